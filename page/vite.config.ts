import { defineConfig } from 'vite';

// Fixed names, because the program carries each file under its name; relative addresses, because the address of the page
// holds a token that is not known here.
export default defineConfig({
  base: './',
  build: {
    target: 'es2022',
    modulePreload: false,
    chunkSizeWarningLimit: 2000,
    rollupOptions: { output: { entryFileNames: 'page.js', assetFileNames: 'page[extname]' } },
  },
});
