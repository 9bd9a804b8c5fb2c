/** The client of SSH. The build puts all of it into this one file: see `tools/bundle/bundle-client.mjs`. */
export { default as ssh2 } from 'ssh2';
