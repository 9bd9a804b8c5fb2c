/** Members that take the place of a port's own; a function is given the port. */
export type Override<Port> = Partial<Port> | ((real: Port) => Partial<Port>);

/** A port, with what a test wants otherwise. */
export function overridden<Port extends object>(real: Port, override: Override<Port> | undefined): Port {
  return { ...real, ...(typeof override === 'function' ? override(real) : override) };
}
