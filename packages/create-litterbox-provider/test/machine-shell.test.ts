import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { FRAME, frame, framesOf } from '../templates/api/src/frames.ts';
import { MachineShell } from '../templates/api/src/machine-shell.ts';

/** A command, and the other side of its connection. */
async function started(): Promise<{ readonly shell: MachineShell; readonly service: Socket; end(): void }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as { readonly port: number }).port, '127.0.0.1');
  const [service] = (await once(server, 'connection')) as [Socket];
  const shell = new MachineShell(socket, 'true');
  const end = () => {
    service.destroy();
    server.close();
  };
  return { shell, service, end };
}

test('FC-472: a connection that ends before the command is no exit code', async () => {
  const { shell, service, end } = await started();
  service.end(frame(FRAME.stdout, Buffer.from('half')));
  await expect(shell.exit).rejects.toMatchObject({ code: 'UNAVAILABLE', details: { facts: { isWayLost: true } } });
  end();
});

test('frames come out whole however they were cut', async () => {
  const { shell, service, end } = await started();
  const bytes = Buffer.concat([
    frame(FRAME.stdout, Buffer.from('one')),
    frame(FRAME.stderr, Buffer.from('two')),
    frame(FRAME.exit, Uint8Array.of(7)),
  ]);
  service.setNoDelay(true);
  for (const byte of bytes) service.write(Uint8Array.of(byte));
  let output = '';
  for await (const { type, bytes: part } of shell) output += `${type} ${Buffer.from(part).toString()};`;
  expect({ output, exit: await shell.exit }).toEqual({
    output: 'stdout-data one;stderr-data two;',
    exit: { code: 7 },
  });
  const first = await framesOf(service).next();
  expect(first.value).toMatchObject({ kind: FRAME.command });
  end();
});
