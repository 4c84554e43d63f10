/** What workerd takes for a request of which nothing is read, and for its answer. */
export default {
  fetch: () => new Response("{}", { headers: { "content-type": "application/json" } }),
};
