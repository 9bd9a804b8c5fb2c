#!/usr/bin/env node
'use strict';
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `error: Litterbox needs Node 22.19 or newer; this is ${process.versions.node}.\n→ Install a newer one: npm install --global node@24 brings it.\n`,
  );
  process.exitCode = 5;
} else {
  require('./own-scope.cjs').enterOwnScope(__filename);
  require('../bundle/bin.cjs');
}
