/** Begins the names of layers of what came along, among base trees, whose names are digests or two of them. */
export const ARTEFACT_PREFIX = 'a-';
