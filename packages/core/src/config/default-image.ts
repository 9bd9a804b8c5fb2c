/** Where nothing names an image, and the provider has no programs of its own to offer: a shell and small tools, nothing else. */
export const DEFAULT_IMAGE = 'busybox:latest';
