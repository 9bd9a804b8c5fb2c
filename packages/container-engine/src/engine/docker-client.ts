/** The client of the Docker API. The build puts all of it into this one file: see `tools/bundle/bundle-client.mjs`. */
export { default as Dockerode } from 'dockerode';
