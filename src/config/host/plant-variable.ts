/** Puts a variable into this process's own environment, until it is disposed of. */
export function plantVariable(name: string, value: string): Disposable {
  const before = process.env[name];
  process.env[name] = value;
  return {
    [Symbol.dispose]: () => {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    },
  };
}
