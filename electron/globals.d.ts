/** The build version, put in by the bundler. */
declare const AGENT_RUNTIME_VERSION: string;
