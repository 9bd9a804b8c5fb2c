import { enableCompileCache } from 'node:module';

enableCompileCache?.(); // Node keeps the compiled code of the modules below: half of the start-up
const { main } = await import('./main.ts');
await main(process.argv.slice(2));
