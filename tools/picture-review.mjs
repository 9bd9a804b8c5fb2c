// npm run docs:pictures: four sandboxes with real work in a repository that is made for it, and pictures of `litterbox review` on them, in
// docs/pictures. Needs root, a build, bubblewrap, git and Chromium (LITTERBOX_CHROMIUM names it).
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateSync, crc32 } from 'node:zlib';

const root = fileURLToPath(new URL('..', import.meta.url));
const { chromium } = createRequire(join(root, 'packages/review/package.json'))('playwright-core');
const PICTURES = join(root, 'docs/pictures');
/** All of them together: they are part of every clone. */
const MOST_BYTES = 300_000;

const lines = (...texts) => `${texts.join('\n')}\n`;
const FILES = {
  'package.json': lines('{', '  "name": "shop",', '  "type": "module",', '  "scripts": { "test": "node --test" }', '}'),
  'src/price.js': lines(
    '/** The price of a cart, in cents. */',
    'export function price(items) {',
    '  let sum = 0;',
    '  for (const item of items) sum += item.cents * item.count;',
    '  return sum;',
    '}',
    '',
    '/** Items of one kind, whatever they cost. */',
    'export function ofKind(items, kind) {',
    '  return items.filter((item) => item.kind === kind);',
    '}',
    '',
    '/** What has to be sent, in grams. */',
    'export function weight(items) {',
    '  return items.reduce((sum, { grams, count }) => sum + grams * count, 0);',
    '}',
    '',
    '/** As people read it. */',
    'export function shown(cents) {',
    "  return (cents / 100).toFixed(2) + ' EUR';",
    '}',
    '',
    'export const FREE_SHIPPING = 5000;',
    '',
    '/** Reduced for whoever comes again. */',
    'export function reduced(cents, visits) {',
    '  return visits > 3 ? Math.round(cents * 0.95) : cents;',
    '}',
    '',
    '/** Of a parcel. */',
    'export const MOST_GRAMS = 30_000;',
    '',
    'export function shipping(items) {',
    '  return price(items) > FREE_SHIPPING ? 0 : 490;',
    '}',
    '',
    'export function total(items) {',
    '  return price(items) + shipping(items);',
    '}',
  ),
  'src/search.js': lines('export const search = (items, word) => items.filter((item) => item.name === word);'),
  'test/price.test.js': lines(
    "import assert from 'node:assert';",
    "import test from 'node:test';",
    "import { total } from '../src/price.js';",
    '',
    "test('ships for nothing', () => assert.equal(total([{ cents: 5000, count: 1 }]), 5000));",
  ),
};

const WORK = {
  'fix-shipping': [
    'node --test',
    "sed -i 's/price(items) > FREE/price(items) >= FREE/' src/price.js",
    "sed -i 's|^  let sum = 0;|  // Counts may be missing: one, then.\\n  let sum = 0;|; s/item.cents \\* item.count/item.cents * (item.count ?? 1)/' src/price.js",
    "sed -i \"s/return (cents.*/return new Intl.NumberFormat('en', { style: 'currency', currency: 'EUR' }).format(cents \\/ 100);/\" src/price.js",
    'node --test',
  ],
  'find-words': [
    "sed -i 's/item.name === word/item.name.toLowerCase().includes(word.toLowerCase())/' src/search.js",
    'sed -i \'s/"node --test"/"node --test", "postinstall": "node tools\\/index.js"/\' package.json',
    "mkdir -p tools; echo 'console.log(1);' > tools/index.js",
  ],
  'free-from-40': ["sed -i 's/price(items) > FREE_SHIPPING/price(items) > 4000/' src/price.js", 'node --test'],
  'new-logo': ['cp .logo/new.png logo.png; rm -r .logo'],
};

/** A PNG of one colour with a border. */
function png(width, height, [red, green, blue]) {
  const rows = Buffer.alloc(height * (1 + width * 3));
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const isInside = (x - width / 2) ** 2 + (y - height / 2) ** 2 < (height / 2.2) ** 2;
      rows.set(isInside ? [red, green, blue] : [255, 255, 255], y * (1 + width * 3) + 1 + x * 3);
    }
  const chunk = (name, data) => {
    const body = Buffer.concat([Buffer.from(name), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const scratch = mkdtempSync(join(tmpdir(), 'litterbox-pictures-'));
const shop = join(scratch, 'shop');
const env = { PATH: process.env.PATH, HOME: scratch, LITTERBOX_HOME: join(scratch, 'state'), GIT_CONFIG_NOSYSTEM: '1' };
const git = (...args) => execFileSync('git', args, { cwd: shop, env, stdio: 'pipe' });
const command = ['--no-warnings', '--conditions=@litterbox/source', join(root, 'packages/cli/src/bin.ts')];
const litterbox = (...args) => {
  try {
    execFileSync(process.execPath, [...command, ...args], { cwd: shop, env, stdio: 'pipe' });
  } catch (error) {
    if (args[0] !== 'run') throw error; // a test that fails is part of the story
  }
};

async function photograph(link, take) {
  const browser = await chromium.launch({
    executablePath: process.env.LITTERBOX_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars'],
  });
  const page = await browser.newPage({ viewport: { width: 1200, height: 720 } });
  await page.goto(link);
  await take(page);
  await browser.close();
}

const save = async (page, name) => await page.screenshot({ path: join(PICTURES, `${name}.png`) });

try {
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(shop, path)), { recursive: true });
    writeFileSync(join(shop, path), text);
  }
  mkdirSync(join(shop, '.logo'));
  writeFileSync(join(shop, 'logo.png'), png(160, 120, [11, 95, 204]));
  writeFileSync(join(shop, '.logo/new.png'), png(160, 120, [179, 32, 44]));
  git('init', '-q', '-b', 'main');
  git('config', 'user.name', 'Ada');
  git('config', 'user.email', 'ada@example.test');
  git('add', '-A');
  git('commit', '-qm', 'A shop');
  for (const [name, commands] of Object.entries(WORK)) {
    litterbox('create', name);
    for (const text of commands) litterbox('run', name, text);
  }
  mkdirSync(PICTURES, { recursive: true });
  const served = spawn(process.execPath, [...command, 'review', '--no-open', '--json'], { cwd: shop, env });
  const [answer] = await once(served.stdout, 'data');
  const { address } = JSON.parse(answer.toString());
  await photograph(address, async (page) => {
    const open = async (name) => {
      await page.getByRole('navigation').getByText(name, { exact: true }).click();
      await page.getByText(/state [0-9a-f]{10}/).waitFor();
      await page.locator('.overview .proof').waitFor();
    };
    await open('fix-shipping');
    const chips = page.getByRole('navigation').locator('.chip.good, .chip.fair');
    await chips.nth(3).waitFor(); // all four were looked at
    await page
      .locator('.list')
      .getByRole('checkbox', { name: /change at line/ })
      .last()
      .check();
    await page.locator('.list').focus();
    await save(page, 'review');
    await page.keyboard.press('a');
    await page.getByRole('button', { name: 'Stage the changes' }).waitFor();
    await save(page, 'review-apply');
    await page.keyboard.press('Escape');
    await page.keyboard.press('d');
    await open('new-logo');
    await page.locator('.binary img').nth(1).waitFor();
    const clip = { ...(await page.locator('.list').boundingBox()), height: 420 };
    await page.screenshot({ path: join(PICTURES, 'review-pictures.png'), clip });
  });
  served.kill('SIGINT');
  await once(served, 'exit');
  const names = ['review', 'review-apply', 'review-pictures'];
  const bytes = names.reduce((sum, name) => sum + statSync(join(PICTURES, `${name}.png`)).size, 0);
  console.log(`${names.length} pictures, ${bytes} bytes`);
  if (bytes > MOST_BYTES) process.exitCode = 1;
} finally {
  litterbox('delete', ...Object.keys(WORK), '--force');
  rmSync(scratch, { recursive: true, force: true });
}
