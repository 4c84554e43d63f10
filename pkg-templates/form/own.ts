/* Members of forms, whatever the names of their fields. */

/**
 * Returns a member of a node, even if a form has a field of the same name (for example, a field named `append`
 * hides the method of this name). Reads the prototype, which fields do not change. A method is bound to the
 * node.
 */
export function own<E extends Node, Name extends keyof E>(node: E, name: Name): E[Name] {
  const member = Reflect.get(Object.getPrototypeOf(node), name, node);
  return typeof member === "function" ? member.bind(node) : member;
}
