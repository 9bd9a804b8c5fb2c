export { type OverlayfsOptions, overlayfs } from './overlayfs.ts';
