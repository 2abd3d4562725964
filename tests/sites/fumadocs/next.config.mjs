import {createMDX} from 'fumadocs-mdx/next';

export default createMDX()({
  async redirects() {
    return [
      {source: '/manual/start', destination: '/manual/first', permanent: true},
      {source: '/manual/old/:path*', destination: '/manual/guide/:path*', permanent: true},
    ];
  },
  rewrites: async () => ({beforeFiles: [{source: '/manual/:path*.md', destination: '/raw/:path*'}]}),
});
