//! The fixed sentences around quotes, in the language of the question.

use crate::words::is_unspaced;

/// The fixed sentences of the assistant in one language.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Phrases {
    /// Before the quotes.
    pub(crate) opening: &'static str,
    /// Before the link of one quote; the link follows.
    pub(crate) from: &'static str,
    /// Before links to pages that are not quoted.
    pub(crate) more: &'static str,
    /// When the docs have no answer.
    pub(crate) no_answer: &'static str,
    /// Before and after the words that the docs never mention, each in quotation marks; follows `no_answer`.
    pub(crate) unmentioned: (&'static str, &'static str),
    pub(crate) quotation: (&'static str, &'static str),
    /// When the docs have no answer, but related pages; links follow.
    pub(crate) nearest: &'static str,
    /// When the question is empty, or small talk.
    pub(crate) no_question: &'static str,
    /// When the question is about the asker's account or contract.
    pub(crate) account: &'static str,
    /// Around the topic of a suggested question. These words are among the common words that are not terms of a topic.
    pub(crate) about: (&'static str, &'static str),
    /// How a heading for instructions begins, in lower case; empty in languages where the beginning does not show it.
    pub(crate) how: &'static str,
    /// The text before and after such a heading that makes it a question.
    pub(crate) asking: (&'static str, &'static str),
    /// Frequent words by which the language of a short question is recognized; empty where its script tells. Most words
    /// that two of these languages share are in neither list.
    frequent: &'static str,
}

/// The phrases of all languages.
pub(crate) const PHRASES: [&Phrases; 11] =
    [&ENGLISH, &GERMAN, &FRENCH, &SPANISH, &PORTUGUESE, &ITALIAN, &DUTCH, &RUSSIAN, &JAPANESE, &CHINESE, &KOREAN];

const ENGLISH: Phrases = Phrases {
    opening: "Here is what the docs say.",
    from: "From",
    more: "See also:",
    no_answer: "The docs do not answer this.",
    unmentioned: ("They never mention ", "."),
    quotation: ("“", "”"),
    nearest: "The nearest pages:",
    no_question: "Ask me something about these docs.",
    account: "I answer from these docs alone. For your account or contract, please ask the people who run the product.",
    about: ("What can you tell me about “", "”?"),
    how: "how to ",
    asking: ("", "?"),
    frequent: "the how what is are do does can where which why when my with to and of for from this that it let",
};

const GERMAN: Phrases = Phrases {
    opening: "Das sagt die Dokumentation dazu.",
    from: "Aus",
    more: "Siehe auch:",
    no_answer: "Die Dokumentation beantwortet das nicht.",
    unmentioned: ("Sie erwähnt nirgends ", "."),
    quotation: ("„", "“"),
    nearest: "Am nächsten kommen:",
    no_question: "Stellen Sie mir eine Frage zu dieser Dokumentation.",
    account: "Ich antworte nur aus dieser Dokumentation. Zu Ihrem Konto oder Vertrag fragen Sie bitte den Betreiber des Produkts.",
    about: ("Was steht da über „", "“?"),
    how: "wie ",
    asking: ("", "?"),
    frequent: "der das ist wie ich kann wo und nicht ein eine einen mit für warum wann welche gibt wird werden",
};

const FRENCH: Phrases = Phrases {
    opening: "Voici ce que dit la documentation.",
    from: "Extrait de",
    more: "Voir aussi :",
    no_answer: "La documentation ne répond pas à cette question.",
    unmentioned: ("Elle ne mentionne jamais ", "."),
    quotation: ("« ", " »"),
    nearest: "Les pages les plus proches :",
    no_question: "Posez-moi une question sur cette documentation.",
    account: "Je réponds uniquement à partir de cette documentation. Pour votre compte ou votre contrat, adressez-vous à l’éditeur du produit.",
    about: ("Que dit-on sur « ", " » ?"),
    how: "comment ",
    asking: ("", " ?"),
    frequent: "le les est comment je puis où et une des avec pourquoi quand quel quelle sont dans peut mes",
};

const SPANISH: Phrases = Phrases {
    opening: "Esto es lo que dice la documentación.",
    from: "De",
    more: "Véase también:",
    no_answer: "La documentación no responde a esta pregunta.",
    unmentioned: ("Nunca menciona ", "."),
    quotation: ("«", "»"),
    nearest: "Las páginas más cercanas:",
    no_question: "Hágame una pregunta sobre esta documentación.",
    account: "Solo respondo a partir de esta documentación. Sobre su cuenta o contrato, pregunte a quienes gestionan el producto.",
    about: ("¿Qué se dice sobre «", "»?"),
    how: "cómo ",
    asking: ("¿", "?"),
    frequent: "el los es cómo puedo dónde y una las por qué cuándo cuál mis hay se está",
};

const PORTUGUESE: Phrases = Phrases {
    opening: "Isto é o que diz a documentação.",
    from: "De",
    more: "Veja também:",
    no_answer: "A documentação não responde a esta pergunta.",
    unmentioned: ("Ela nunca menciona ", "."),
    quotation: ("“", "”"),
    nearest: "As páginas mais próximas:",
    no_question: "Faça-me uma pergunta sobre esta documentação.",
    account: "Respondo apenas com base nesta documentação. Sobre a sua conta ou contrato, pergunte a quem gere o produto.",
    about: ("O que se diz sobre “", "”?"),
    how: "como ",
    asking: ("", "?"),
    frequent: "os é como posso onde um uma não são meu minha você do da quais faço",
};

const ITALIAN: Phrases = Phrases {
    opening: "Ecco che cosa dice la documentazione.",
    from: "Da",
    more: "Vedi anche:",
    no_answer: "La documentazione non risponde a questa domanda.",
    unmentioned: ("Non menziona mai ", "."),
    quotation: ("«", "»"),
    nearest: "Le pagine più vicine:",
    no_question: "Fammi una domanda su questa documentazione.",
    account: "Rispondo solo in base a questa documentazione. Per il suo account o contratto si rivolga a chi gestisce il prodotto.",
    about: ("Che cosa si dice su «", "»?"),
    how: "come ",
    asking: ("", "?"),
    frequent: "il gli è posso dove che sono perché quale cosa della mio mia si di",
};

const DUTCH: Phrases = Phrases {
    opening: "Dit zegt de documentatie erover.",
    from: "Uit",
    more: "Zie ook:",
    no_answer: "De documentatie geeft hier geen antwoord op.",
    unmentioned: ("Ze noemt nergens ", "."),
    quotation: ("“", "”"),
    nearest: "Het dichtst in de buurt:",
    no_question: "Stel mij een vraag over deze documentatie.",
    account: "Ik antwoord alleen uit deze documentatie. Vraag over uw account of contract de beheerders van het product.",
    about: ("Wat staat er over “", "”?"),
    how: "hoe ",
    asking: ("", "?"),
    frequent: "het hoe wat ik kan waar een niet waarom wanneer mijn met voor zijn welke van",
};

const RUSSIAN: Phrases = Phrases {
    opening: "Вот что говорит документация.",
    from: "Из",
    more: "См. также:",
    no_answer: "В документации нет ответа на этот вопрос.",
    unmentioned: ("В ней нигде не упоминается ", "."),
    quotation: ("«", "»"),
    nearest: "Ближайшие страницы:",
    no_question: "Задайте мне вопрос об этой документации.",
    account: "Я отвечаю только по этой документации. По вопросам учётной записи или договора обратитесь к владельцам продукта.",
    about: ("Что сказано про «", "»?"),
    how: "как ",
    asking: ("", "?"),
    frequent: "",
};

const JAPANESE: Phrases = Phrases {
    opening: "ドキュメントには次のように書かれています。",
    from: "出典:",
    more: "関連ページ:",
    no_answer: "ドキュメントにはこの質問への答えがありません。",
    unmentioned: ("次の語はどこにも出てきません:", "。"),
    quotation: ("「", "」"),
    nearest: "最も近いページ:",
    no_question: "このドキュメントについて質問してください。",
    account: "このドキュメントの内容だけにお答えします。アカウントや契約については、製品の運営者にお問い合わせください。",
    about: ("「", "」とは?"),
    how: "",
    asking: ("", "?"),
    frequent: "",
};

const CHINESE: Phrases = Phrases {
    opening: "文档中是这样说的。",
    from: "出自",
    more: "另请参阅:",
    no_answer: "文档没有回答这个问题。",
    unmentioned: ("文档从未提到", "。"),
    quotation: ("“", "”"),
    nearest: "最接近的页面:",
    no_question: "请就这些文档向我提问。",
    account: "我只根据这份文档回答。有关您的账户或合同，请咨询产品的运营方。",
    about: ("“", "”是什么?"),
    how: "如何",
    asking: ("", "?"),
    frequent: "",
};

const KOREAN: Phrases = Phrases {
    opening: "문서에는 다음과 같이 나와 있습니다.",
    from: "출처:",
    more: "함께 보기:",
    no_answer: "문서에는 이 질문에 대한 답이 없습니다.",
    unmentioned: ("다음 단어는 문서에 나오지 않습니다: ", "."),
    quotation: ("“", "”"),
    nearest: "가장 가까운 페이지:",
    no_question: "이 문서에 대해 질문해 주세요.",
    account: "이 문서의 내용으로만 답합니다. 계정이나 계약에 관해서는 제품 운영자에게 문의하세요.",
    about: ("“", "”에 대해 알려 주세요."),
    how: "",
    asking: ("", "?"),
    frequent: "",
};

/// The sentences for a question: by its script, else by its frequent words, else English.
pub(crate) fn phrases_for(question: &str) -> &'static Phrases {
    let count = |is: fn(char) -> bool| question.chars().filter(|c| is(*c)).count();
    let letters = count(char::is_alphabetic).max(1);
    let is_most = |part: usize| part * 4 >= letters;
    if count(|c| matches!(c, '\u{3040}'..='\u{30ff}')) > 0 && is_most(count(is_unspaced)) {
        return &JAPANESE;
    }
    if is_most(count(|c| matches!(c, '\u{ac00}'..='\u{d7a3}'))) {
        return &KOREAN;
    }
    if is_most(count(|c| matches!(c, '\u{4e00}'..='\u{9fff}'))) {
        return &CHINESE;
    }
    if is_most(count(|c| matches!(c, '\u{0400}'..='\u{04ff}'))) {
        return &RUSSIAN;
    }
    let lower = question.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let seen = |phrases: &Phrases| {
        let frequent: Vec<&str> = phrases.frequent.split(' ').collect();
        words.iter().filter(|word| frequent.contains(word)).count()
    };
    // Of several, the first.
    PHRASES.into_iter().rev().max_by_key(|phrases| seen(phrases)).unwrap_or(&ENGLISH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frame_speaks_the_askers_language() {
        for (question, phrases) in [
            ("How do I rotate an API key?", &ENGLISH),
            ("webhooks", &ENGLISH),
            ("", &ENGLISH),
            ("let readers comment below a page", &ENGLISH),
            ("Wie kann ich einen API-Schlüssel erneuern?", &GERMAN),
            ("Comment est-ce que je configure les webhooks ?", &FRENCH),
            ("¿Cómo puedo configurar los webhooks?", &SPANISH),
            ("Como posso configurar uma chave?", &PORTUGUESE),
            ("Che cosa sono i webhook e dove si configurano?", &ITALIAN),
            ("Hoe kan ik een sleutel vernieuwen?", &DUTCH),
            ("Как настроить вебхуки?", &RUSSIAN),
            ("Webhookを設定する方法は?", &JAPANESE),
            ("如何配置 webhook?", &CHINESE),
            ("웹훅을 어떻게 설정하나요?", &KOREAN),
        ] {
            assert_eq!(phrases_for(question), phrases, "{question}");
        }
    }
}
