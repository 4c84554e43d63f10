/** A Worker that does nothing: what workerd itself can serve. */
export default {
  async fetch() {
    return new Response("{}");
  },
};
