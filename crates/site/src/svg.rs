//! Finds in an SVG what is more than a drawing: anything but the listed elements and attributes.
//!
//! A browser reads the file as XML, and pages may also hold it as part of their HTML. Both have to see a drawing.

use docent_markdown::{Code, Lines, has_word, regex};
use roxmltree::{Document, Node, ParsingOptions};

const SVG: &str = "http://www.w3.org/2000/svg";
const XLINK: &str = "http://www.w3.org/1999/xlink";

/// Elements that draw. `style` is judged by its text, `set` and those that animate by what they animate.
const ELEMENTS: &str = "svg g defs symbol use path rect circle ellipse line polyline polygon text tspan textPath tref \
    title desc metadata switch view image marker mask clipPath pattern linearGradient radialGradient stop meshgradient \
    meshrow meshpatch hatch hatchpath solidcolor filter feBlend feColorMatrix feComponentTransfer feComposite \
    feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR \
    feGaussianBlur feMerge feMergeNode feMorphology feOffset fePointLight feSpecularLighting feSpotLight feTile \
    feTurbulence animate animateTransform animateMotion animateColor set mpath style a";

/// Attributes of these elements, without the presentation properties in [`PROPERTIES`].
const ATTRIBUTES: &str = "id class lang role tabindex version baseProfile width height x y x1 y1 x2 y2 cx cy r rx ry fx fy \
    fr dx dy d points pathLength viewBox preserveAspectRatio transform transform-origin gradientTransform gradientUnits \
    patternTransform patternUnits patternContentUnits spreadMethod offset rotate textLength lengthAdjust startOffset \
    method spacing side orient refX refY markerWidth markerHeight markerUnits maskUnits maskContentUnits clipPathUnits \
    filterUnits primitiveUnits filterRes in in2 result mode type values operator k1 k2 k3 k4 order kernelMatrix \
    kernelUnitLength divisor bias targetX targetY edgeMode preserveAlpha surfaceScale diffuseConstant specularConstant \
    specularExponent scale xChannelSelector yChannelSelector azimuth elevation z pointsAtX pointsAtY pointsAtZ \
    limitingConeAngle stdDeviation radius baseFrequency numOctaves seed stitchTiles tableValues slope intercept amplitude \
    exponent attributeName attributeType begin dur end min max restart repeatCount repeatDur calcMode keyTimes \
    keySplines from to by additive accumulate keyPoints path origin media zoomAndPan viewTarget requiredFeatures \
    systemLanguage focusable alt title contentScriptType contentStyleType enable-background xml:space \
    target rel download crossorigin decoding data-name style";

/// Properties that may be attributes, and that may be animated.
const PROPERTIES: &str = "alignment-baseline baseline-shift clip clip-path clip-rule color color-interpolation \
    color-interpolation-filters color-profile color-rendering cursor direction display dominant-baseline fill fill-opacity \
    fill-rule filter flood-color flood-opacity font font-family font-size font-size-adjust font-stretch font-style \
    font-variant font-weight glyph-orientation-horizontal glyph-orientation-vertical image-rendering isolation kerning \
    letter-spacing lighting-color marker marker-end marker-mid marker-start mask mask-type mix-blend-mode opacity overflow \
    paint-order pointer-events shape-rendering solid-color solid-opacity stop-color stop-opacity stroke stroke-dasharray \
    stroke-dashoffset stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity stroke-width text-align text-anchor \
    text-decoration text-rendering text-overflow unicode-bidi vector-effect visibility white-space word-spacing \
    writing-mode";

/// Parts of the namespaces of drawing programs and of metadata. Browsers know no elements of these.
const OF_PROGRAMS: &str = "inkscape.org sodipodi www.w3.org/1999/02/22-rdf-syntax-ns creativecommons.org/ns \
    web.resource.org/cc purl.org/dc/ bohemiancoding.com serif.com ns.adobe.com figma.com";

/// Maximum nesting depth of elements.
const MAX_DEPTH: usize = 200;

regex!(
    XML_DECLARATION,
    r#"\A<\?xml\s+version=["']1\.[01]["'](?:\s+encoding=["'](?i:utf-?8)["'])?(?:\s+standalone=["'](?:yes|no)["'])?\s*\?>"#
);
// Styles that load something, or hide from a reader of this file what they are.
regex!(
    ACTIVE_STYLE,
    r"(?i)[\\<]|@(?:import|font-face|namespace|charset)|expression|behavior|binding|javascript:|(?:image|image-set|src)\s*\("
);
regex!(URL, r#"(?i)url\s*\(\s*["']?\s*(.)"#);
regex!(PICTURE, r"(?i)\Adata:image/(?:png|jpe?g|gif|webp|avif);base64,[A-Za-z0-9+/=\s]*\z");

/// What in an SVG is more than a drawing.
pub fn active_in_svg(bytes: &[u8]) -> Vec<Code> {
    let unread = |why: &str, shown: &str| vec![Code::new(1, why, format!("svg {shown}"))];
    let Ok(text) = std::str::from_utf8(bytes) else { return unread("not UTF-8", &String::from_utf8_lossy(bytes)) };
    let body = text.trim_start_matches('\u{feff}');
    if body.contains(|c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r')) {
        return unread("control characters", text);
    }
    let after = XML_DECLARATION.find(body).map_or(body, |declaration| &body[declaration.end()..]);
    if after.contains("<?") || after.contains("<!DOCTYPE") || after.contains("<!ENTITY") {
        return unread("a document type or a processing instruction", text);
    }
    let options = ParsingOptions { allow_dtd: false, ..ParsingOptions::default() };
    let Ok(document) = Document::parse_with_options(body, options) else { return unread("not well-formed XML", text) };
    let (lines, mut found) = (Lines::of(body), Vec::new());
    let mut open = vec![(document.root(), 0)];
    while let Some((node, depth)) = open.pop() {
        if let Some(why) = active(node, depth) {
            let shown = why.unwrap_or_else(|| body[node.range()].to_owned());
            found.push(Code::new(lines.number(node.range().start), &shown, format!("svg {shown}")));
            continue;
        }
        open.extend(node.children().map(|child| (child, depth + 1)));
    }
    found
}

/// Whether a node is active: with the attribute that is, or as a whole (`None`).
fn active(node: Node<'_, '_>, depth: usize) -> Option<Option<String>> {
    if node.is_comment() {
        // HTML ends such a comment at once.
        let text = node.text().unwrap_or_default();
        return (text.starts_with(['>', '-']) || text.contains("--") || text.ends_with('-')).then_some(None);
    }
    if !node.is_element() {
        return None;
    }
    let (name, namespace) = (node.tag_name().name(), node.tag_name().namespace());
    let source = &node.document().input_text()[node.range()];
    let has_prefix = source[1..]
        .split(|c: char| c.is_whitespace() || matches!(c, '/' | '>'))
        .next()
        .is_some_and(|name| name.contains(':'));
    let is_of_program = namespace.is_some_and(|namespace| OF_PROGRAMS.split(' ').any(|part| namespace.contains(part)));
    let is_drawing = namespace.is_none_or(|namespace| namespace == SVG) && has_word(ELEMENTS, name);
    if depth > MAX_DEPTH || !(is_drawing && !has_prefix || is_of_program && has_prefix) {
        return Some(None);
    }
    if name == "style" {
        let style: String = node.children().filter_map(|child| child.text()).collect();
        if is_active_style(&style) {
            return Some(None);
        }
    }
    let is_active = |attribute: &roxmltree::Attribute<'_, '_>| {
        let (name, value) = (attribute.name(), attribute.value());
        match attribute.namespace() {
            Some(XLINK) if name == "href" => is_active_address(node, value),
            Some(XLINK) => !["type", "title", "role", "show", "actuate", "arcrole"].contains(&name),
            Some(roxmltree::NS_XML_URI) => !["space", "lang", "id"].contains(&name),
            Some(namespace) => !OF_PROGRAMS.split(' ').any(|part| namespace.contains(part)),
            None if name == "href" => is_active_address(node, value),
            None if is_of_program => name.to_lowercase().starts_with("on") || ["src", "style"].contains(&name),
            None if name == "attributeName" => !has_word(PROPERTIES, value) && !is_animated(value),
            None => {
                let is_known = has_word(ATTRIBUTES, name)
                    || has_word(PROPERTIES, name)
                    || name.starts_with("aria-")
                    || name.starts_with("data-");
                !is_known || is_active_style(value)
            }
        }
    };
    let attribute = node.attributes().find(is_active)?;
    Some(Some(format!("<{name} … {}=\"{}\"", attribute.name(), attribute.value())))
}

/// Attributes that move and grow things.
fn is_animated(name: &str) -> bool {
    const GEOMETRY: &str = "x y x1 y1 x2 y2 cx cy r rx ry fx fy dx dy d points width height offset transform viewBox \
        gradientTransform patternTransform rotate startOffset stdDeviation baseFrequency values scale k1 k2 k3 k4 pathLength";
    has_word(GEOMETRY, name)
}

fn is_active_address(node: Node<'_, '_>, address: &str) -> bool {
    let is_picture = || node.tag_name().name() == "image" && PICTURE.is_match(address.trim());
    !(address.starts_with('#') || is_picture())
}

fn is_active_style(style: &str) -> bool {
    ACTIVE_STYLE.is_match(style) || URL.captures_iter(style).any(|url| &url[1] != "#")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(inside: &str) -> usize {
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\">{inside}</svg>"
        );
        active_in_svg(text.as_bytes()).len()
    }

    #[test]
    fn drawings_are_inert() {
        for drawing in [
            "<title>A &lt; b</title><circle cx='5' r='4' fill='#c00' stroke-width='2'/>",
            "<style>.a{fill:url(#b)} @media (x){.c{opacity:.5}}</style><g class='a' style='fill:#fff;mask:url(#m)'/>",
            "<style><![CDATA[.st0{fill:#fff;}]]></style>",
            "<defs><linearGradient id='b'><stop offset='0' stop-color='red'/></linearGradient></defs><use xlink:href='#b' href='#b'/>",
            "<image width='1' href='data:image/png;base64,AAAA'/>",
            "<animate attributeName='opacity' from='0' to='1' dur='1s'/><!-- a note -->",
            "<x:namedview xmlns:x='http://sodipodi.sourceforge.net/DTD/sodipodi-0.dtd' id='v' pagecolor='#fff'/>",
            "<text x='1' font-size='3' aria-label='a' data-x='1' xml:space='preserve'>a<tspan dy='1'>b</tspan></text>",
        ] {
            assert_eq!(found(drawing), 0, "{drawing}");
        }
        assert_eq!(active_in_svg(b"\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg/>"), []);
    }

    #[test]
    fn all_else_is_active() {
        for code in [
            "<script>f()</script>",
            "<s:script xmlns:s='http://www.w3.org/2000/svg'>f()</s:script>",
            "<script xmlns='http://www.w3.org/1999/xhtml'>f()</script>",
            "<foreignObject><p/></foreignObject>",
            "<g onclick='f()'/>",
            "<g ONclick='f()'/>",
            "<a href='javascript:f()'><text>x</text></a>",
            "<a xlink:href='https://a.test'/>",
            "<use href='b.svg#c'/>",
            "<use xml:base='http://a.test/' href='#c'/>",
            "<image href='data:image/svg+xml;base64,AAAA'/>",
            "<set attributeName='href' to='javascript:f()'/>",
            "<animate attributeName='onclick' to='f()'/>",
            "<style>@import 'http://a.test';</style>",
            "<style>a{background:u\\72l(http://a.test)}</style>",
            "<g style='fill:url(http://a.test)'/>",
            "<g fill='url(//a.test#b)'/>",
            "<title><img src='x'/></title>",
            "<!--><img src=x>-->",
            "<img xmlns='urn:x' onerror='f()'/>",
        ] {
            assert_eq!(found(code), 1, "{code}");
        }
        for text in [
            "<?xml version='1.0' encoding='UTF-16LE'?><svg/>",
            "<?xml-stylesheet href='a.css'?><svg/>",
            "<!DOCTYPE svg [<!ENTITY a 'b'>]><svg/>",
            "<\0s\0v\0g\0/\0>\0",
            "<svg",
            "<svg><g></svg>",
            "---\n---\n<svg/>",
        ] {
            assert_eq!(active_in_svg(text.as_bytes()).len(), 1, "{text}");
        }
    }

    #[test]
    fn nesting_is_bounded() {
        let deep = |depth: usize| "<g>".repeat(depth) + &"</g>".repeat(depth);
        assert_eq!((found(&deep(100)), found(&deep(20_000))), (0, 1));
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "(<|/|>|svg|script| on|=|\"|'|<!--|-->|<!\\[CDATA\\[|&#106;|\\PC){0,30}") {
            active_in_svg(text.as_bytes());
            active_in_svg(format!("<svg>{text}</svg>").as_bytes());
        }
    }
}
