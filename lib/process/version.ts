import manifest from '../../package.json' with { type: 'json' };

/** The hub's version, as told to tool servers and clients. */
export const VERSION = manifest.version;
