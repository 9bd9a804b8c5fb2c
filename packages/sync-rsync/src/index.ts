export { rsync } from './rsync.ts';
