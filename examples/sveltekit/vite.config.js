import { sveltekit } from "@sveltejs/kit/vite";

// To deploy it, pass `sveltekit` the adapter of your platform.
export default { plugins: [sveltekit()] };
