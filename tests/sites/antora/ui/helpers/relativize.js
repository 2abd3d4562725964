const path = require('path').posix

module.exports = (to, { data: { root } }) => {
  const from = root.page.url
  if (!to || to[0] !== '/' || !from) return to
  const hash = to.includes('#') ? to.slice(to.indexOf('#')) : ''
  const target = hash ? to.slice(0, -hash.length) : to
  if (target === from) return hash || path.basename(target)
  return (path.relative(path.dirname(from + '.'), target) || '.') + (target.endsWith('/') ? '/' : '') + hash
}
