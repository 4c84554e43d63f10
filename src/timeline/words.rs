//! The page's own sentences, in each language.

use super::language::Language;

/// The sentences of a language. `{}` is where a value goes; `|` separates what is shown apart.
#[derive(Debug)]
pub struct Words {
    /// The heading, with the recipient's name.
    pub pledged_for: &'static str,
    /// The heading for a recipient without a name.
    pub pledged_for_you: &'static str,
    /// Stands in for what caused the pledges.
    pub cause: &'static str,
    /// How many pledges there are: of one; then of `few`, in Polish, or of 0, where that is `one`;
    /// last of any other number.
    pub pledges: &'static str,
    /// How many pledges are not shown.
    pub more: &'static str,
    /// A link, with the host that it leads to.
    pub see_at: &'static str,
    /// An amount of something that has no name.
    pub quantity: &'static str,
    /// What the shop calls the transaction.
    pub reference: &'static str,
    /// Asks not to publish the address.
    pub private: &'static str,
    /// Test mode: what it is called, and what it means.
    pub test: &'static str,
    /// An address that opens nothing: heading, why, and what to do.
    pub not_found: &'static str,
    /// The store does not answer: heading, what happened, and what to do, with the link's text.
    pub unavailable: &'static str,
    /// A date: day, month and year.
    pub date: &'static str,
    /// The months as they stand in a date.
    pub months: &'static str,
}

impl Language {
    /// What the page says in this language.
    pub const fn words(self) -> &'static Words {
        match self {
            Language::Da => &DA,
            Language::De => &DE,
            Language::En => &EN,
            Language::Es => &ES,
            Language::Fr => &FR,
            Language::It => &IT,
            Language::Ja => &JA,
            Language::Nl => &NL,
            Language::Pl => &PL,
            Language::Pt => &PT,
            Language::Sv => &SV,
            Language::Zh => &ZH,
        }
    }
}

static DA: Words = Words {
    pledged_for: "Et løfte til {}",
    pledged_for_you: "Et løfte til dig",
    cause: "Sådan begyndte det",
    pledges: "Der er afgivet et løfte|Der er afgivet {} løfter",
    more: "Og {} til.",
    see_at: "Se det på {}",
    quantity: "Antal: {}",
    reference: "Reference {}",
    private: "Denne side er kun til dig: Alle, der har adressen, kan se den.",
    test: "Testtilstand.|Intet løfte på denne side er rigtigt.",
    not_found: "Vi kan ikke finde denne side|Adressen er måske ikke fuldstændig.|Åbn linket i din \
        besked igen, eller kopiér hele linket til og med det sidste tegn. Hvis det stadig fører \
        hertil, så spørg butikken, der sendte det.",
    unavailable: "Et øjeblik|Vi kan ikke vise denne side lige nu.|Der er intet galt med dit link. \
        |Prøv igen| om et øjeblik.",
    date: "{d}. {m} {y}",
    months: "januar februar marts april maj juni juli august september oktober november december",
};

static DE: Words = Words {
    pledged_for: "Zugesagt für {}",
    pledged_for_you: "Zugesagt für Sie",
    cause: "Wie es begann",
    pledges: "Eine Zusage wurde gemacht|{} Zusagen wurden gemacht",
    more: "Und {} weitere.",
    see_at: "Ansehen auf {}",
    quantity: "Menge: {}",
    reference: "Referenz {}",
    private: "Diese Seite ist nur für Sie bestimmt: Wer ihre Adresse hat, kann sie sehen.",
    test: "Testmodus.|Nichts auf dieser Seite wurde wirklich zugesagt.",
    not_found: "Wir können diese Seite nicht finden|Die Adresse ist vielleicht unvollständig.|\
        Öffnen Sie den Link in Ihrer Nachricht noch einmal, oder kopieren Sie ihn ganz, bis zum \
        letzten Zeichen. Führt er weiterhin hierher, fragen Sie den Shop, der ihn Ihnen geschickt hat.",
    unavailable: "Einen Moment bitte|Wir können diese Seite gerade nicht zeigen.|Mit Ihrem Link ist \
        alles in Ordnung. Bitte |versuchen Sie es gleich noch einmal|.",
    date: "{d}. {m} {y}",
    months: "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
};

static EN: Words = Words {
    pledged_for: "Pledged for {}",
    pledged_for_you: "Pledged for you",
    cause: "How it began",
    pledges: "A pledge was made|{} pledges were made",
    more: "And {} more.",
    see_at: "See it at {}",
    quantity: "Quantity: {}",
    reference: "Reference {}",
    private: "This page is meant for you alone: whoever has its address can see it.",
    test: "Test mode.|Nothing on this page was really pledged.",
    not_found: "We could not find this page|The address may be incomplete.|Please open the link in \
        your message once more, or copy all of it, to its last character. If it still leads here, \
        ask the shop that sent it to you.",
    unavailable: "One moment, please|We cannot show this page right now.|Nothing is wrong with your \
        link. Please |try again| in a moment.",
    date: "{d} {m} {y}",
    months: "January February March April May June July August September October November December",
};

static ES: Words = Words {
    pledged_for: "Compromiso para {}",
    pledged_for_you: "Compromiso para usted",
    cause: "Cómo empezó",
    pledges: "Se ha asumido un compromiso|Se han asumido {} compromisos",
    more: "Y {} más.",
    see_at: "Ver en {}",
    quantity: "Cantidad: {}",
    reference: "Referencia {}",
    private: "Esta página es solo para usted: quien tenga su dirección puede verla.",
    test: "Modo de prueba.|Ningún compromiso de esta página es real.",
    not_found: "No encontramos esta página|Puede que la dirección esté incompleta.|Abra de nuevo el \
        enlace de su mensaje, o cópielo entero, hasta el último carácter. Si sigue llegando aquí, \
        pregunte a la tienda que se lo envió.",
    unavailable: "Un momento, por favor|Ahora mismo no podemos mostrar esta página.|Su enlace es \
        correcto. |Inténtelo de nuevo| en un momento.",
    date: "{d} de {m} de {y}",
    months: "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre \
        diciembre",
};

static FR: Words = Words {
    pledged_for: "Engagement pris pour {}",
    pledged_for_you: "Engagement pris pour vous",
    cause: "Comment tout a commencé",
    pledges: "Un engagement a été pris|{} engagement a été pris|{} engagements ont été pris",
    more: "Et {} de plus.",
    see_at: "Voir sur {}",
    quantity: "Quantité\u{a0}: {}",
    reference: "Référence {}",
    private: "Cette page vous est réservée\u{a0}: toute personne qui a son adresse peut la voir.",
    test: "Mode test.|Aucun engagement de cette page n’est réel.",
    not_found: "Cette page est introuvable|L’adresse est peut-être incomplète.|Ouvrez de nouveau le \
        lien de votre message, ou copiez-le en entier, jusqu’au dernier caractère. S’il mène toujours \
        ici, demandez à la boutique qui vous l’a envoyé.",
    unavailable: "Un instant, s’il vous plaît|Nous ne pouvons pas afficher cette page pour le \
        moment.|Votre lien est correct. |Réessayez| dans un instant.",
    date: "{d} {m} {y}",
    months: "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
};

static IT: Words = Words {
    pledged_for: "Impegno preso per {}",
    pledged_for_you: "Impegno preso per Lei",
    cause: "Com’è iniziato",
    pledges: "È stato preso un impegno|Sono stati presi {} impegni",
    more: "E altri {}.",
    see_at: "Vedi su {}",
    quantity: "Quantità: {}",
    reference: "Riferimento {}",
    private: "Questa pagina è solo per Lei: chiunque ne abbia l’indirizzo può vederla.",
    test: "Modalità di prova.|Nessun impegno in questa pagina è reale.",
    not_found: "Non troviamo questa pagina|L’indirizzo potrebbe essere incompleto.|Apra di nuovo il \
        link del Suo messaggio, o lo copi per intero, fino all’ultimo carattere. Se porta ancora qui, \
        chieda al negozio che gliel’ha inviato.",
    unavailable: "Un momento, per favore|Ora non possiamo mostrare questa pagina.|Il Suo link è \
        corretto. |Riprovi| tra un momento.",
    date: "{d} {m} {y}",
    months: "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre \
        dicembre",
};

static JA: Words = Words {
    pledged_for: "{}様のために約束された支援",
    pledged_for_you: "お客様のために約束された支援",
    cause: "きっかけ",
    pledges: "支援が約束されました|{}件の支援が約束されました",
    more: "ほか{}件",
    see_at: "{}で見る",
    quantity: "数量：{}",
    reference: "参照番号 {}",
    private: "このページはお客様専用です。アドレスを知っている人は誰でも閲覧できます。",
    test: "テストモード。|このページの支援は実際には約束されていません。",
    not_found: "ページが見つかりません|アドレスが途中で切れている可能性があります。|\
        メッセージのリンクをもう一度開くか、最後の文字まですべてコピーしてください。\
        それでもこのページが表示される場合は、リンクを送ったショップにお問い合わせください。",
    unavailable: "少々お待ちください|ただいまこのページを表示できません。|\
        リンクに問題はありません。しばらくしてから|もう一度お試しください|。",
    date: "{y}年{m}月{d}日",
    months: "1 2 3 4 5 6 7 8 9 10 11 12",
};

static NL: Words = Words {
    pledged_for: "Toegezegd voor {}",
    pledged_for_you: "Toegezegd voor u",
    cause: "Hoe het begon",
    pledges: "Er is een toezegging gedaan|Er zijn {} toezeggingen gedaan",
    more: "En nog {}.",
    see_at: "Bekijk op {}",
    quantity: "Aantal: {}",
    reference: "Referentie {}",
    private: "Deze pagina is alleen voor u bedoeld: wie het adres heeft, kan haar zien.",
    test: "Testmodus.|Niets op deze pagina is echt toegezegd.",
    not_found: "We kunnen deze pagina niet vinden|Het adres is misschien niet volledig.|Open de link \
        in uw bericht nog een keer, of kopieer hem helemaal, tot en met het laatste teken. Komt u \
        weer hier, vraag het dan de winkel die hem heeft gestuurd.",
    unavailable: "Een ogenblik|We kunnen deze pagina nu niet tonen.|Er is niets mis met uw link. \
        |Probeer het zo opnieuw|.",
    date: "{d} {m} {y}",
    months: "januari februari maart april mei juni juli augustus september oktober november december",
};

static PL: Words = Words {
    pledged_for: "Zobowiązanie dla: {}",
    pledged_for_you: "Zobowiązanie dla Ciebie",
    cause: "Jak to się zaczęło",
    pledges: "Podjęto zobowiązanie|Podjęto {} zobowiązania|Podjęto {} zobowiązań",
    more: "I jeszcze {}.",
    see_at: "Zobacz na {}",
    quantity: "Ilość: {}",
    reference: "Numer: {}",
    private: "Ta strona jest tylko dla Ciebie: zobaczy ją każdy, kto ma jej adres.",
    test: "Tryb testowy.|Żadne zobowiązanie na tej stronie nie jest prawdziwe.",
    not_found: "Nie możemy znaleźć tej strony|Adres może być niepełny.|Otwórz jeszcze raz link \
        z wiadomości albo skopiuj go w całości, do ostatniego znaku. Jeśli nadal prowadzi tutaj, \
        zapytaj sklep, który go wysłał.",
    unavailable: "Chwileczkę|Nie możemy teraz pokazać tej strony.|Link jest prawidłowy. \
        |Spróbuj ponownie| za chwilę.",
    date: "{d} {m} {y}",
    months: "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października \
        listopada grudnia",
};

static PT: Words = Words {
    pledged_for: "Compromisso para {}",
    pledged_for_you: "Compromisso em seu favor",
    cause: "Como começou",
    pledges: "Um compromisso foi assumido|{} compromisso foi assumido|\
        {} compromissos foram assumidos",
    more: "E mais {}.",
    see_at: "Ver em {}",
    quantity: "Quantidade: {}",
    reference: "Referência {}",
    private: "Esta página é só sua: quem tiver o endereço pode vê-la.",
    test: "Modo de teste.|Nenhum compromisso desta página é real.",
    not_found: "Não encontramos esta página|O endereço pode estar incompleto.|Abra de novo o link \
        da sua mensagem, ou copie-o por inteiro, até ao último carácter. Se ainda vier para aqui, \
        pergunte à loja que o enviou.",
    unavailable: "Um momento, por favor|Não podemos mostrar esta página agora.|O seu link está \
        certo. |Tente novamente| dentro de momentos.",
    date: "{d} de {m} de {y}",
    months: "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro \
        dezembro",
};

static SV: Words = Words {
    pledged_for: "Ett löfte till {}",
    pledged_for_you: "Ett löfte till dig",
    cause: "Så började det",
    pledges: "Ett löfte har getts|{} löften har getts",
    more: "Och {} till.",
    see_at: "Se mer på {}",
    quantity: "Antal: {}",
    reference: "Referens {}",
    private: "Den här sidan är bara för dig: alla som har adressen kan se den.",
    test: "Testläge.|Inget löfte på den här sidan är verkligt.",
    not_found: "Vi hittar inte den här sidan|Adressen är kanske inte fullständig.|Öppna länken i \
        ditt meddelande en gång till, eller kopiera hela länken, till sista tecknet. Om den ändå \
        leder hit, fråga butiken som skickade den.",
    unavailable: "Ett ögonblick|Vi kan inte visa den här sidan just nu.|Det är inget fel på din \
        länk. |Försök igen| om en stund.",
    date: "{d} {m} {y}",
    months: "januari februari mars april maj juni juli augusti september oktober november december",
};

static ZH: Words = Words {
    pledged_for: "为{}作出的承诺",
    pledged_for_you: "为您作出的承诺",
    cause: "缘起",
    pledges: "已作出一项承诺|已作出{}项承诺",
    more: "还有{}项。",
    see_at: "在 {} 查看",
    quantity: "数量：{}",
    reference: "编号 {}",
    private: "此页面仅供您本人查看：任何拥有其网址的人都能看到。",
    test: "测试模式。|此页面上的承诺均非真实。",
    not_found: "找不到此页面|网址可能不完整。|请再次打开消息中的链接，或完整复制到最后一个字符。\
        如果仍然来到这里，请联系向您发送链接的商店。",
    unavailable: "请稍候|目前无法显示此页面。|您的链接没有问题。请稍后|再试一次|。",
    date: "{y}年{m}月{d}日",
    months: "1 2 3 4 5 6 7 8 9 10 11 12",
};
