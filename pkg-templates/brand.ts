/* Classes whose instances are recognised across copies of the package: a process may load it as ES module and as CommonJS. */

/** Makes `instanceof` hold for the instances of another copy's class of this name. */
export function brand(type: { readonly prototype: object }, name: string): void {
  const mark = Symbol.for(`impact-pledge ${name}`);
  Object.defineProperty(type.prototype, mark, { value: true });
  Object.defineProperty(type, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      if (this === type) return typeof value === "object" && value !== null && mark in value;
      return Function.prototype[Symbol.hasInstance].call(this, value); // of a class that extends it
    },
  });
}
