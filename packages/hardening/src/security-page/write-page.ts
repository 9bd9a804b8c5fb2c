// npm run docs:security: writes what was measured on this machine into SECURITY.md. Run it as root, as CI does.
import { readFileSync, writeFileSync } from 'node:fs';
import { controlsTable, withTable } from './controls-table.ts';
import { measureControls } from './measure-controls.ts';

const page = new URL('../../../../SECURITY.md', import.meta.url);
writeFileSync(page, withTable(readFileSync(page, 'utf8'), controlsTable('overlayfs', await measureControls())));
