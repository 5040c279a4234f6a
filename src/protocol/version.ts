/**
 * The version of the whole wire contract (wire 1.2). It is no build version and cannot be set at run time: Runtime,
 * local Core, scripted peers and tests all read this constant.
 */
export const WIRE_VERSION = '0.10.0';

/** Literal equality, patch included: no prefix, pre-release or build suffix is tolerated. */
export const isSameWireVersion = (version: string): boolean => version === WIRE_VERSION;
