import { networkInterfaces } from 'node:os';
import { expect, it } from '@jest/globals';
import { interfaces6, locals4, ownNetworks, routes4, routes6 } from '../src/own-networks.ts';

it('are those of interfaces, of routes without a gateway, and gateways', () => {
  const cidrs = Object.values(networkInterfaces()).flatMap((list) => list?.map(({ cidr }) => cidr) ?? []);
  expect(ownNetworks()).toEqual(expect.arrayContaining(cidrs));
  const table = [
    'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT',
    'eth0\t00000000\t0102A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0',
    'eth0\t0002A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0',
    'tun0\t00000009\t00000000\t0001\t0\t0\t0\t000000FF\t0\t0\t0',
    'tun0\t00000000\t00000000\t0001\t0\t0\t0\t00000080\t0\t0\t0',
    'broken',
    '',
  ].join('\n');
  expect(routes4(table)).toEqual(['192.168.2.1/32', '192.168.2.0/24', '9.0.0.0/8']);
  const none = '0'.repeat(32);
  const table6 = [
    `2a028108000100020000000000000000 40 ${none} 00 ${none} 00000100 00000001 00000000 00000001     eth0`,
    `${none} 00 ${none} 00 2a028108000100020000000000000001 00000400 00000001 00000000 00000003     eth0`,
    `20000000000000000000000000000000 03 ${none} 00 ${none} 00000400 00000001 00000000 00000003     tun0`,
    '',
  ].join('\n');
  expect(routes6(table6)).toEqual([
    '2a02:8108:0001:0002:0000:0000:0000:0000/64',
    '2a02:8108:0001:0002:0000:0000:0000:0001/128',
  ]);
});

it('of another machine are what its kernel takes for itself', () => {
  const trie = [
    'Main:',
    '  +-- 0.0.0.0/0 3 0 4',
    '           +-- 10.88.0.0/31 1 0 0',
    '              |-- 10.88.0.0',
    '                 /16 link UNICAST',
    '              |-- 10.88.0.1',
    '                 /32 host LOCAL',
    '     |-- 203.0.113.0',
    '        /24 host LOCAL',
    '        /32 link BROADCAST',
    'Local:',
    '              |-- 10.88.0.1',
    '                 /32 host LOCAL',
    '',
  ].join('\n');
  expect(locals4(trie)).toEqual(['10.88.0.1/32', '203.0.113.0/24']);
  const table6 = [
    '00000000000000000000000000000001 01 80 10 80       lo',
    '2a028108000100020000000000000001 04 40 00 82     eth0',
    'broken',
  ].join('\n');
  expect(interfaces6(table6)).toEqual([
    '0000:0000:0000:0000:0000:0000:0000:0001',
    '2a02:8108:0001:0002:0000:0000:0000:0001',
  ]);
});
