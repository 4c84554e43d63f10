/* Makes `instanceof` work across copies of the package: a process may load it both as an ES module and as CommonJS. */

/**
 * Makes `instanceof` accept instances that another copy of the package created. They are recognised by the name
 * of their class.
 */
export function brand(type: { readonly prototype: object }, name: string): void {
  const mark = Symbol.for(`impact-pledge ${name}`);
  Object.defineProperty(type.prototype, mark, { value: true });
  Object.defineProperty(type, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      if (this === type) return typeof value === "object" && value !== null && mark in value;
      return Function.prototype[Symbol.hasInstance].call(this, value); // for a class that extends it
    },
  });
}
