/** Every number of the wire contract (wire 1.1 and 18), in the unit its name ends with. */

/** One encoded Envelope in either direction. A larger one breaks the connection. */
export const FRAME_BYTES = 4_194_304;
export const WRITE_TIMEOUT_MS = 10_000;
export const RUNTIME_SEND_QUEUE_FRAMES = 64;
export const RUNTIME_RECEIVE_QUEUE_FRAMES = 64;
export const CORE_SEND_QUEUE_FRAMES = 64;
export const HEARTBEAT_DEFAULT_SECONDS = 15;
/** Core ends a connection that sent no data frame for this long. */
export const CORE_SILENCE_MS = 60_000;
export const CLOSE_NORMAL = 1000;
export const CLOSE_GOING_AWAY = 1001;
/** The device is retired: permanent, no reconnection. */
export const CLOSE_DEVICE_RETIRED = 4001;

/** Bounds on the raw bytes of the `payload` member. */
export const WORKSPACE_REQUEST_PAYLOAD_BYTES = 8_192;
export const WORKSPACE_WRITE_PAYLOAD_BYTES = 98_304;
export const WORKSPACE_EXPORT_RESULT_PAYLOAD_BYTES = 98_304;
export const RUNTIME_PREPARE_PAYLOAD_BYTES = 1_048_576;
export const RESUME_PAYLOAD_BYTES = 1_024;
/** A longer trace is left out of a `workspace_read_result`. */
export const ECHOED_TRACE_BYTES = 256;
/** `Envelope.id` of reads, exports and suspension requests, and `suspend_id`. */
export const CORRELATION_ID_BYTES = 128;

export const PATH_BYTES = 4_096;
export const NATIVE_IDENTITY_BYTES = 512;

export const ADMISSION_LIFETIME_MS = 300_000;
export const ACTIVE_EXECUTORS = 4;
export const IDLE_EXECUTORS = 16;
export const TOTAL_EXECUTORS = ACTIVE_EXECUTORS + IDLE_EXECUTORS;
export const ADMISSION_RECORDS = 64;
export const EXECUTOR_IDLE_MS = 3_600_000;
/** Native close, and native cancellation with its settlement. */
export const NATIVE_SETTLEMENT_MS = 10_000;
export const CANCEL_RECEIPT_MS = 10_000;
/** One receipt, status or transfer reply. */
export const RECEIPT_SEND_MS = 5_000;
/** Core's wait for an application receipt (decision, cancellation, function result). */
export const CORE_RECEIPT_MS = 15_000;

export const STEER_WRITE_MS = 10_000;
export const STEER_WRITTEN_MS = 30_000;
export const STEER_BEFORE_DONE_MS = 15_000;
export const STEER_INPUTS_PER_RUN = 256;
export const STEER_INPUT_ID_BYTES = 256;

export const READ_MS = 12_000;
export const CORE_READ_MS = 17_000;
export const PENDING_READS = 4;
export const READ_BYTES = 1_048_576;
export const DIRECTORY_ENTRIES = 1_024;
export const ENTRY_NAME_BYTES = 255;

export const TRANSFER_CHUNK_BYTES = 65_536;
export const WRITE_BODY_BYTES = 52_428_800;
export const WRITE_STAGING_MS = 120_000;
export const CORE_WRITE_MS = 195_000;

export const EXPORT_ARCHIVE_BYTES = 553_648_128;
export const EXPORT_MS = 180_000;
export const EXPORT_FILE_BYTES = 209_715_200;
export const EXPORT_SUM_BYTES = 524_288_000;
export const EXPORT_ENTRIES = 4_096;
export const EXPORT_DEPTH = 64;

export const RUNTIME_PREPARE_BODY_BYTES = 52_428_800;
export const RUNTIME_PREPARE_MS = 120_000;
export const CORE_RUNTIME_PREPARE_MS = 195_000;
export const RUNTIME_PREPARE_BUDGET_MS = 1_800_000;
export const PLUGIN_SLOTS = 50;
export const CAPABILITY_SOURCE_ITEMS = 50;
export const SKILL_NAME_BYTES = 64;
export const INITIALIZATION_ENV_ENTRIES = 1_000;
export const INITIALIZATION_PACKAGES = 1_000;

export const QUIESCE_DRAIN_MS = 5_000;
export const RESUME_ATTEMPT_MS = 30_000;

export const APPLIED_DECISIONS = 1_024;
export const APPLIED_DECISION_MS = 3_600_000;

export const FUNCTION_TOOLS = 64;
export const FUNCTION_NAME_BYTES = 512;
export const HARNESS_CONFIG_BYTES = 16_384;
export const API_KEY_BYTES = 16_384;

/** Buffers and bounds of Core (runtime-behaviour section 7). */
export const CORE_RUN_BUFFER_FRAMES = 256;
export const CORE_PREPARATION_SUBSCRIPTIONS = 64;
export const CORE_PREPARATION_BUFFER = 16;
export const CORE_RETRY_MS = 250;
