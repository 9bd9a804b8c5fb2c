export { docker, type DockerOptions } from './docker.ts';
