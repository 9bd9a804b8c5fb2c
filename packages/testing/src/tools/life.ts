/** Whether a program still runs. */
export interface Life {
  isOver: boolean;
}

/** The port of a program that may be killed: from then on no call of it is made, and none returns. */
export function mortal<Port extends object>(port: Port, life: Life): Port {
  const members = Object.getOwnPropertyNames(port).map((name) => {
    const member: unknown = Reflect.get(port, name);
    if (typeof member !== 'function') return [name, member] as const;
    const call = (...args: unknown[]): unknown =>
      life.isOver ? new Promise(() => {}) : Reflect.apply(member, port, args);
    return [name, call] as const;
  });
  return { ...port, ...Object.fromEntries(members) };
}
