export default { paths: () => [{ params: { name: 'first' } }] }
