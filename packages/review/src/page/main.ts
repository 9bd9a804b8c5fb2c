import { App } from './app.ts';
import { element } from './element.ts';
import { Refused, Server } from './server.ts';

async function open(): Promise<void> {
  await new App(await Server.open()).load();
}

open().catch((error: unknown) => {
  const hint = error instanceof Refused ? error.hint : undefined;
  const words = error instanceof Error ? error.message : String(error);
  document.body.replaceChildren(
    element('main', { class: 'stop' }, element('h1', {}, words), hint !== undefined && element('p', {}, hint)),
  );
});
