// Tokenizers: their ids are those of Hugging Face's library for the same files (reference_ids.h, written by
// generate.js), of published examples, or worked by hand.

#include <QElapsedTimer>
#include <QJsonArray>
#include <QJsonDocument>
#include <QTemporaryDir>
#include <QtTest>

#include <fstream>

#include "core/io/inputs/tokenizers/tokenizer_file.h"
#include "tests/core/io/tokenizers/reference_ids.h"
#include "tests/core/io/tokenizers/reference_tokenizers.h"

namespace tst_tokenizers {

using namespace sonde;
using Ids = std::vector<std::int64_t>;

namespace {

/// A JSON text outside of a list is no document for Qt.
std::string textOf(const char* json) {
    const auto list = QJsonDocument::fromJson('[' + QByteArray(json) + ']').array();
    return list.first().toString().toStdString();
}

std::string jsonOf(std::string_view name) {
    for (const test::ReferenceTokenizer& each : test::kReferenceTokenizers)
        if (name == each.name) {
            QByteArray json(each.json);
            return json.replace("@bytes@", test::kByteTokens).toStdString();
        }
    return {};
}

std::shared_ptr<const io::Tokenizer> parsed(const std::string& content, const io::TokenizerChoice& choice = {}) {
    auto made = io::parseTokenizer(content, "file", choice);
    if (!made) qWarning("%s", made.error().text().c_str());
    return made ? *made : nullptr;
}

QString idText(const base::Result<io::Encoding>& encoding) {
    if (!encoding) return QString::fromStdString(encoding.error().text());
    QStringList ids;
    for (const std::int64_t id : encoding->ids) ids << QString::number(id);
    return ids.join(QLatin1Char(' '));
}

/// A byte-level tokenizer with these tokens, which are not merged but looked up as words.
std::string byteLevel(const std::string& vocabulary, const std::string& more = "") {
    return R"({"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},"decoder":{"type":"ByteLevel"},)"
           R"("model":{"type":"BPE","ignore_merges":true,"merges":[],"vocab":)" +
           vocabulary + "}" + more + "}";
}

std::string bertWords(const std::string& vocabulary) {
    return R"({"normalizer":{"type":"BertNormalizer"},"pre_tokenizer":{"type":"BertPreTokenizer"},"post_processor":)"
           R"({"type":"BertProcessing","sep":["[SEP]",102],"cls":["[CLS]",101]},"model":{"type":"WordPiece",)"
           R"("unk_token":"[UNK]","vocab":)" +
           vocabulary + "}}";
}

}  // namespace

class TestTokenizers : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void idsAreThoseOfTheLibrary_data();
    void idsAreThoseOfTheLibrary();
    void accentsAreMarksOfAllKinds();
    void publishedExamples();
    void onlyTheBeginningOfATextIsMarked();
    void vocabularyOfBert();
    void characters();
    void words();
    void vocabulariesInJson();
    void whatIsToldOfAVocabulary();
    void tokensForAList();
    void refusals_data();
    void refusals();
    void hostileFilesEndSoon_data();
    void hostileFilesEndSoon();
    void textsThatCannotBeEncoded();
    void aFileThatChangedIsReadAgain();
};

void TestTokenizers::idsAreThoseOfTheLibrary_data() {
    QTest::addColumn<QString>("name");
    for (const test::ReferenceTokenizer& each : test::kReferenceTokenizers) QTest::newRow(each.name) << each.name;
}
void TestTokenizers::idsAreThoseOfTheLibrary() {
    QFETCH(QString, name);
    const auto tokenizer = parsed(jsonOf(name.toStdString()));
    QVERIFY(tokenizer);
    std::size_t row = 0;
    for (const test::ReferenceIds& expected : test::kReferenceIds) {
        if (name != QLatin1String(expected.tokenizer)) continue;
        const std::string text = textOf(test::kReferenceTexts[row++]);
        const auto encoding = tokenizer->encode(text);
        QVERIFY2(idText(encoding) == QLatin1String(expected.ids),
                 qPrintable(QString::fromStdString(text) + ": " + idText(encoding) + ", not " + expected.ids));
        QCOMPARE(QString::fromStdString(tokenizer->decode(encoding->ids, true)),
                 QString::fromStdString(textOf(expected.text)));
        QCOMPARE(encoding->types, Ids(encoding->ids.size(), 0));
    }
    QCOMPARE(row, std::size(test::kReferenceTexts));
}

/// As tests of Hugging Face's tokenizers have it (metaspace.rs, non_legacy_meta_space): what comes behind a special
/// token has no mark of its own.
void TestTokenizers::onlyTheBeginningOfATextIsMarked() {
    const auto json = [](const std::string& scheme) {
        return R"({"added_tokens":[{"id":5,"content":"<s>","special":true}],"pre_tokenizer":{"type":"Metaspace",)"
               R"("replacement":"▁","prepend_scheme":")" +
               scheme +
               R"("},"model":{"type":"BPE","ignore_merges":true,"merges":[],"vocab":)"
               R"({"▁Hey":0,"▁my":1,"how":2,"▁are":3,"▁how":4,"Hey":6}}})";
    };
    const char* const text = "Hey my<s>how are";
    QCOMPARE(idText(parsed(json("first"))->encode(text)), QStringLiteral("0 1 5 2 3"));
    QCOMPARE(idText(parsed(json("always"))->encode(text)), QStringLiteral("0 1 5 4 3"));
    QCOMPARE(idText(parsed(json("never"))->encode(text)), QStringLiteral("6 1 5 2 3"));
    QCOMPARE(idText(parsed(json("first"))->encode("<s>how are")), QStringLiteral("5 2 3"));
}

/// Vowel signs that take room of their own too, but not for BERT's normalizer; ids of Hugging Face's tokenizers.
void TestTokenizers::accentsAreMarksOfAllKinds() {
    const auto json = [](const std::string& normalizer) {
        return R"({"normalizer":)" + normalizer +
               R"(,"model":{"type":"WordPiece","unk_token":"[UNK]","vocab":{"[UNK]":0,"\u092e":1,"##\u092e":2,)"
               R"("##\u093e":3,"##\u0902":4}}})";
    };
    const char* const text = "\u092e\u093e\u0902\u092e";  // letter, spacing mark, nonspacing mark, letter
    QCOMPARE(idText(parsed(json(R"({"type":"StripAccents"})"))->encode(text)), QStringLiteral("1 2"));
    QCOMPARE(idText(parsed(json(R"({"type":"BertNormalizer","strip_accents":true})"))->encode(text)),
             QStringLiteral("1 3 2"));
    QCOMPARE(idText(parsed(json("null"))->encode(text)), QStringLiteral("1 3 4 2"));
}

/// From the documentation of Hugging Face's transformers (GPT2Tokenizer, RobertaTokenizer), and the ids of
/// bert-base-uncased that its quick tour shows. The tables hold the tokens of the examples alone.
void TestTokenizers::publishedExamples() {
    const std::string gpt2 = byteLevel(R"({"Hello":15496,"Ġworld":995,"ĠHello":18435})");
    QCOMPARE(idText(parsed(gpt2)->encode("Hello world")), QStringLiteral("15496 995"));
    QCOMPARE(idText(parsed(gpt2)->encode(" Hello world")), QStringLiteral("18435 995"));
    const std::string roberta =
        byteLevel(R"({"Hello":31414,"Ġworld":232,"ĠHello":20920})",
                  R"(,"post_processor":{"type":"RobertaProcessing","cls":["<s>",0],"sep":["</s>",2]})");
    QCOMPARE(idText(parsed(roberta)->encode("Hello world")), QStringLiteral("0 31414 232 2"));
    QCOMPARE(idText(parsed(roberta)->encode(" Hello world")), QStringLiteral("0 20920 232 2"));
    const std::string bert = bertWords(R"({"[UNK]":100,"[CLS]":101,"[SEP]":102,"hello":7592,"world":2088})");
    QCOMPARE(idText(parsed(bert)->encode("Hello world")), QStringLiteral("101 7592 2088 102"));
    QCOMPARE(idText(parsed(bert)->encode("Hello world", false)), QStringLiteral("7592 2088"));
}

/// The same tokens a line each: the rules of BERT are those of its tokenizer.json.
void TestTokenizers::vocabularyOfBert() {
    QByteArray lines(test::kReferenceVocabulary);
    lines.replace(' ', '\n');
    const auto tokenizer = parsed(lines.toStdString() + "\n");
    QVERIFY(tokenizer);
    QCOMPARE(tokenizer->description(), std::string("WordPiece, lower case"));
    std::size_t row = 0;
    for (const test::ReferenceIds& expected : test::kReferenceIds) {
        if (std::string_view(expected.tokenizer) != "bert") continue;
        QCOMPARE(idText(tokenizer->encode(textOf(test::kReferenceTexts[row++]))), QLatin1String(expected.ids));
    }
    QCOMPARE(row, std::size(test::kReferenceTexts));
}

void TestTokenizers::characters() {
    const std::string lines = "<pad>\na\nb\n \n\xc3\xa4\n";
    const auto tokenizer = parsed(lines);
    QCOMPARE(tokenizer->description(), std::string("characters, lower case"));
    QCOMPARE(idText(tokenizer->encode("ab \xc3\xa4 B<pad>")), QStringLiteral("1 2 3 4 3 2 0"));
    QCOMPARE(tokenizer->decode(Ids{1, 3, 4, 0, 9}), std::string("a \xc3\xa4<pad>\xe2\x80\xb9"
                                                                "9\xe2\x80\xba"));
    QCOMPARE(tokenizer->decode(Ids{1, 0, 2}, true), std::string("ab"));
    const auto missing = tokenizer->encode("abc");
    QVERIFY(!missing);
    QCOMPARE(missing.error().what,
             std::string("character 'c' is not in the vocabulary, which has no token for what is unknown"));
    const auto unknown = parsed("<unk>\na\nA\nb\r\n")->encode("bAcd");
    QCOMPARE(idText(unknown), QStringLiteral("3 2 0 0"));
    QCOMPARE(unknown->unknownCount, std::size_t{2});
}

void TestTokenizers::words() {
    const auto tokenizer = parsed("<unk>\nhello\nworld\n,\ndon't\nis\n<eos>\n");
    QCOMPARE(tokenizer->description(), std::string("words, lower case"));
    QCOMPARE(idText(tokenizer->encode("Hello, world, don't  IS\nthis<eos>")), QStringLiteral("1 3 2 3 4 5 0 6"));
    QCOMPARE(tokenizer->decode(Ids{1, 3, 2}), std::string("hello , world"));
    // Capital letters tell that case counts, unless somebody says otherwise.
    QCOMPARE(idText(parsed("<unk>\nHello\nhello")->encode("Hello hello HELLO")), QStringLiteral("1 2 0"));
    QCOMPARE(idText(parsed("<unk>\nHello\nhello", {{}, true})->encode("Hello hello HELLO")), QStringLiteral("2 2 2"));
    QCOMPARE(idText(parsed("a\nb\n<unk>", {"words", {}})->encode("ab a")), QStringLiteral("2 0"));
}

void TestTokenizers::vocabulariesInJson() {
    QCOMPARE(idText(parsed(R"(["a", "b", "\n"])")->encode("b\na")), QStringLiteral("1 2 0"));
    QCOMPARE(idText(parsed("\xef\xbb\xbf"
                           R"(["a", "b", "\n"])")
                        ->encode("b\na")),
             QStringLiteral("1 2 0"));
    QCOMPARE(idText(parsed(R"({"a": 5, "b": 7, " ": 6})")->encode("a b")), QStringLiteral("5 6 7"));
    QCOMPARE(parsed(R"({"a": 5, "b": 7, " ": 6})")->idCount(), std::int64_t{8});
    // Brackets as characters of a vocabulary of lines.
    QCOMPARE(idText(parsed("[\n]\na\n")->encode("[a]")), QStringLiteral("0 2 1"));
    QCOMPARE(idText(parsed("{\n}\na\n")->encode("{a}")), QStringLiteral("0 2 1"));
}

void TestTokenizers::whatIsToldOfAVocabulary() {
    const auto gpt2 = parsed(jsonOf("gpt2"));
    QCOMPARE(gpt2->description(), std::string("byte-level BPE"));
    QCOMPARE(gpt2->padding().token, std::string("<|endoftext|>"));
    QCOMPARE(gpt2->token(gpt2->padding().id) ? *gpt2->token(gpt2->padding().id) : "", std::string("<|endoftext|>"));
    const auto bert = parsed(jsonOf("bert"));
    QCOMPARE(bert->padding().token, std::string("[PAD]"));
    QCOMPARE(bert->padding().id, std::int64_t{0});
    QVERIFY(bert->isSpecial(2));
    QCOMPARE(bert->id("[MASK]"), std::optional<std::int64_t>(4));
    QVERIFY(parsed("a\nb")->padding().token.empty());
    const auto padded = parsed(
        byteLevel(R"({"a":1})", R"(,"padding":{"direction":"Left","pad_id":9,"pad_token":"P","pad_type_id":3})"));
    QCOMPARE(padded->padding().id, std::int64_t{9});
    QCOMPARE(padded->padding().type, std::int64_t{3});
    QVERIFY(padded->padding().isLeft);
}

void TestTokenizers::tokensForAList() {
    const auto tokenizer = parsed(byteLevel(R"({"Ġworld":1,"Ã":2,"Ċ":3})"));
    QCOMPARE(tokenizer->tokenText(1), std::string(" world"));
    QCOMPARE(tokenizer->tokenText(2), std::string("\\xc3"));
    QCOMPARE(tokenizer->tokenText(3), std::string("\\n"));
    QCOMPARE(tokenizer->tokenText(4), std::string("\xe2\x80\xb9"
                                                  "4\xe2\x80\xba"));
}

void TestTokenizers::refusals_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QString>("message");
    const auto row = [](const char* name, const std::string& content, const char* message) {
        QTest::newRow(name) << QByteArray::fromStdString(content) << QString::fromUtf8(message);
    };
    row("Unigram", R"({"model":{"type":"Unigram","vocab":[["a",0]]}})",
        "the model 'Unigram' is not supported (file, model.type)");
    row("a normalizer",
        R"({"model":{"type":"BPE","vocab":{"a":0},"merges":[]},"normalizer":{"type":"Sequence",)"
        R"("normalizers":[{"type":"NFC"},{"type":"Precompiled","precompiled_charsmap":"AA"}]}})",
        "the normalizer 'Precompiled' is not supported (file, normalizer.normalizers[1].type)");
    row("a pre-tokenizer", byteLevel(R"({"a":0})", R"(,"pre_tokenizer":{"type":"UnicodeScripts"})"),
        "the pre-tokenizer 'UnicodeScripts' is not supported (file, pre_tokenizer.type)");
    row("a decoder", byteLevel(R"({"a":0})", R"(,"decoder":{"type":"CTC"})"), "the decoder 'CTC' is not supported");
    row("a post-processor", byteLevel(R"({"a":0})", R"(,"post_processor":{"type":"Other"})"),
        "the post-processor 'Other' is not supported (file, post_processor.type)");
    row("look-behind",
        byteLevel(R"({"a":0})",
                  R"(,"pre_tokenizer":{"type":"Split","behavior":"Isolated","pattern":{"Regex":"(?<=a)b"}})"),
        "looks ahead or back, which is not supported (file, pre_tokenizer.pattern.Regex)");
    row("a pattern",
        byteLevel(R"({"a":0})", R"(,"pre_tokenizer":{"type":"Split","behavior":"Isolated","pattern":{"Regex":"("}})"),
        "the pattern '(' is not supported");
    row("a merge of nothing", R"({"model":{"type":"BPE","vocab":{"a":0,"b":1},"merges":["a b"]}})",
        "a merge uses 'ab', which is not in the vocabulary (file, model.merges[0])");
    row("half a merge", R"({"model":{"type":"BPE","vocab":{"a":0},"merges":["a"]}})", "(file, model.merges[0])");
    row("an id", R"({"model":{"type":"BPE","vocab":{"a":-1},"merges":[]}})",
        "an integer from 0 to 2147483647 is expected (file, model.vocab.a)");
    row("no vocabulary", R"({"model":{"type":"BPE","merges":[]}})", "'vocab' is missing (file, model)");
    row("no tokens", R"({"model":{"type":"BPE","vocab":{},"merges":[]}})", "the vocabulary has no tokens");
    row("unknown token", R"({"model":{"type":"WordLevel","vocab":{"a":0},"unk_token":"u"}})",
        "the unknown token is not in the vocabulary (file, model.unk_token)");
    row("dropout", R"({"model":{"type":"BPE","vocab":{"a":0},"merges":[],"dropout":0.1}})",
        "merges are dropped at random, which is not supported (file, model.dropout)");
    row("a template",
        byteLevel(R"({"a":0})", R"(,"post_processor":{"type":"TemplateProcessing","single":)"
                                R"([{"SpecialToken":{"id":"X","type_id":0}}],"special_tokens":{}})"),
        "'X' is none of 'special_tokens' (file, post_processor.single[0].SpecialToken)");
    row("no JSON", R"({"model":{"type":)", "the tokenizer file is no JSON: there is an error at byte 18");
    row("an open bracket", "{", "the tokenizer file is no JSON: there is an error at byte 2");
    row("an open list", " [\n", "the tokenizer file is no JSON: there is an error at byte 4");
    row("nothing", "", "the tokenizer file is empty");
    row("SentencePiece", std::string("\n\x0e\n\x05<unk>\x15\0\0\0\0\x18\x02", 16),
        "a SentencePiece model is not supported as a tokenizer");
    row("tiktoken", "IQ== 0\nIg== 1\n", "a tiktoken file is not supported as a tokenizer");
    row("merges", "#version: 0.2\n\xc4\xa0 t\n", "a list of merges (merges.txt) is not supported as a tokenizer");
    row("vocab.json of GPT-2", R"({"Hello": 0, "Ġworld": 1})",
        "a vocabulary of byte pairs without their merges is not supported as a tokenizer");
    row("a vocabulary of SentencePiece", "<unk>\n\xe2\x96\x81the\n",
        "a vocabulary of SentencePiece without its model is not supported as a tokenizer");
    row("a binary file", std::string("\x7f\x45\x4c\x46\0\0", 6), "a binary file is not supported as a tokenizer");
    row("not UTF-8", "a\nb\xff\n", "the vocabulary is not UTF-8 (file, line 2)");
    row("a list with a number", R"(["a", 1])", "a text is expected (file, [1])");
}
void TestTokenizers::refusals() {
    QFETCH(QByteArray, content);
    QFETCH(QString, message);
    const auto made = io::parseTokenizer(content.toStdString(), "file");
    QVERIFY(!made);
    const QString text = QString::fromStdString(made.error().text());
    QVERIFY2(text.contains(message), qPrintable(text));
    QVERIFY(made.error().kind == base::ErrorKind::Unreadable);
}

/// Files that ask for much more than they hold: a clear error, or ids, within seconds.
void TestTokenizers::hostileFilesEndSoon_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<bool>("isRefused");
    QTest::addColumn<QString>("message");
    const auto row = [](const char* name, const std::string& content, bool isRefused, const char* message = "") {
        QTest::newRow(name) << QByteArray::fromStdString(content) << isRefused << QString::fromUtf8(message);
    };
    const auto many = [](std::size_t count, const std::string& what) {
        std::string text;
        for (std::size_t i = 0; i < count; ++i) text += (i ? "," : "") + what;
        return text;
    };
    row("nested", R"({"a":)" + std::string(1'000'000, '['), true, "nested deeper than 32 levels");
    row("a long token", std::string(5'000, 'a') + "\nb\n", true, "a token is longer than 4096 bytes");
    row("merges in a circle",
        R"({"model":{"type":"BPE","vocab":{"a":0,"":1,"aa":2},"merges":[["a",""],["","a"],)"
        R"(["a","a"],["aa",""]]}})",
        false);
    row("a text that grows",
        byteLevel(R"({"a":0})", R"(,"normalizer":{"type":"Sequence","normalizers":[)" +
                                    many(8, R"({"type":"Replace","pattern":{"String":"a"},)"
                                            R"("content":"aaaaaaaaaa"})") +
                                    "]}"),
        true, "the tokenizer makes the text longer than 4 MiB");
    row("bytes of bytes",
        byteLevel(R"({"a":0})", R"(,"pre_tokenizer":{"type":"Sequence","pretokenizers":[)" +
                                    many(30, R"({"type":"ByteLevel"})") + "]}"),
        true, "the tokenizer makes the text longer than 4 MiB");
    row("many steps",
        byteLevel(R"({"a":0})",
                  R"(,"normalizer":{"type":"Sequence","normalizers":[)" + many(64, R"({"type":"NFC"})") + "]}"),
        true, "there are more than 64 steps (file, normalizer)");
    row("words without end",
        R"({"model":{"type":"WordPiece","vocab":{"[UNK]":0,"a":1},"unk_token":"[UNK]",)"
        R"("max_input_chars_per_word":2000000000}})",
        false);
}
void TestTokenizers::hostileFilesEndSoon() {
    QFETCH(QByteArray, content);
    QFETCH(bool, isRefused);
    QFETCH(QString, message);
    QElapsedTimer timer;
    timer.start();
    const auto made = io::parseTokenizer(content.toStdString(), "file");
    const auto encoding =
        made ? (*made)->encode(std::string(200'000, 'a') + "\xc3\xa4") : base::Result<io::Encoding>(made.error());
    QCOMPARE(!encoding, isRefused);
    if (isRefused)
        QVERIFY2(encoding.error().text().find(message.toStdString()) != std::string::npos,
                 encoding.error().text().c_str());
    // Also with sanitizers on a busy machine.
    QVERIFY2(timer.elapsed() < 60'000, qPrintable(QString::number(timer.elapsed())));
}

void TestTokenizers::textsThatCannotBeEncoded() {
    const auto tokenizer = parsed(jsonOf("bert"));
    QCOMPARE(tokenizer->encode("ab\xff").error().what, std::string("the text is not UTF-8: byte 3"));
    QVERIFY(tokenizer->encode(std::string(300'000, 'a')).error().what.find("at most 262144") != std::string::npos);
    // Special tokens stay when the text is cut; without room for them there is none for the text.
    QCOMPARE(idText(tokenizer->encode("hello world the play", true, 4)).section(' ', -1), QStringLiteral("3"));
    QCOMPARE(tokenizer->encode("hello world the play", true, 4)->ids.size(), std::size_t{4});
    QVERIFY(!tokenizer->encode("hello", true, 1));
}

void TestTokenizers::aFileThatChangedIsReadAgain() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("vocab.txt").toStdString();
    std::ofstream(path) << "a\nb\n";
    const auto first = io::openTokenizer(path);
    QVERIFY2(first, first ? "" : first.error().text().c_str());
    QCOMPARE(io::openTokenizer(path)->get(), first->get());
    QVERIFY(io::openTokenizer(path, {"words", {}})->get() != first->get());
    std::ofstream(path) << "b\nc\na\n";
    QCOMPARE(idText((*io::openTokenizer(path))->encode("a")), QStringLiteral("2"));
    QVERIFY(!io::openTokenizer(folder.filePath("none").toStdString()));
}

QTEST_GUILESS_MAIN(TestTokenizers)

}  // namespace tst_tokenizers

#include "tst_tokenizers.moc"
