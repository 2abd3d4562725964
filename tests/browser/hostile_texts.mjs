// Texts that want to run or load something, for all pages that render what others wrote.

/** 500 texts that want to run or load something. */
export function hostileTexts() {
  const urls = ['javascript:alert(1)', 'JaVaScRiPt:alert(1)', 'java\tscript:alert(1)', '&#106;avascript:alert(1)', 'javascript&colon;alert(1)', 'data:text/html,<script>alert(1)</script>', 'vbscript:x', '//evil.test/x', '\\\\evil.test\\x',
    'https://evil.test/x', 'http://evil.test/?q=secret', 'file:///etc/passwd', 'blob:https://evil.test/x', 'ftp://evil.test', 'mailto:x@evil.test', '/\\evil.test', 'https:evil.test', '%6aavascript:alert(1)', ' javascript:alert(1)', '/guides/../../..//evil.test'];
  const frames = [url => `[a](${url})`, url => `![a](${url})`, url => `<${url}>`, (url, n) => `[a${n}]: ${url}\n\n[a${n}]`, url => `<a href="${url}">a</a>`, url => `<img src="${url}" onerror="alert(1)">`, url => `[![a](${url})](${url})`, url => `| a |\n|---|\n| [b](${url}) |`,
    url => `- [a](<${url}>)`, url => `> ![a](${url} "t")`, url => `# [a](${url} 'x')`, url => `**[a](${url})** _![b](${url})_`, url => `<iframe src="${url}"></iframe>`, url => `<svg><a xlink:href="${url}"><text>a</text></a></svg>`, url => `<form action="${url}"><button>a</button></form>`,
    url => `<script src="${url}"></script>`, url => `<style>@import "${url}"</style>`, url => `<link rel=stylesheet href="${url}">`, url => `<object data="${url}"></object><embed src="${url}">`, url => `<meta http-equiv=refresh content="0;url=${url}">`, url => `<base href="${url}">`,
    url => `\`[a](${url})\` ${url}`, url => `<div style="background:url(${url})">a</div>`, url => `a](${url}) [b`, url => `1. <video poster="${url}" src="${url}"></video>`];
  return frames.flatMap(frame => urls.map((url, n) => frame(url, n)));
}
