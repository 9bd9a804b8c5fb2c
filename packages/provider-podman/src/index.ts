export { podman, type PodmanOptions } from './podman.ts';
