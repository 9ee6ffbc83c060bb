// Texts as values of inputs: how they are written, and what the inputs of a model of text are given. Vocabularies and
// ids are written here by hand.

#include <QTemporaryDir>
#include <QtTest>

#include <fstream>

#include "core/io/inputs/data_files.h"
#include "core/io/inputs/inputs.h"
#include "core/io/inputs/named_files.h"
#include "core/io/inputs/text_input.h"
#include "core/io/inputs/text_item.h"

namespace tst_text_inputs {

using namespace sonde;
using tensor::Dim;
using tensor::DType;
using tensor::Shape;
using tensor::TypeInfo;
using Ids = std::vector<std::int64_t>;

namespace {

io::InputInfo input(const char* name, std::vector<Dim> dims, DType dtype = DType::Int64) {
    return {name, TypeInfo::tensor(dtype, std::move(dims))};
}

Ids idsOf(const tensor::Value& value) {
    Ids ids;
    for (std::int64_t i = 0; i < value.tensor().numel(); ++i) ids.push_back(value.tensor().toInt64(i));
    return ids;
}

const std::vector<Dim> kOpen{Dim::named("batch"), Dim::named("sequence")};

}  // namespace

class TestTextInputs : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void init();
    void textsInQuotes_data();
    void textsInQuotes();
    void whatStandsBehindATokenizer();
    void specificationsWithTexts();
    void idsInTheShapeOfTheInput_data();
    void idsInTheShapeOfTheInput();
    void notesTellWhatWasDone();
    void files();
    void inputsThatGoWithAText();
    void rolesByName();
    void refusals_data();
    void refusals();
    void lengthsThatNoTextHas();
    void pathsOfAnItem();
    void whatTakesAText();

  private:
    std::string write(const char* name, const std::string& content) {
        const std::string path = m_folder.filePath(QLatin1String(name)).toStdString();
        std::ofstream(path, std::ios::binary) << content;
        return path;
    }
    /// [PAD] 0, [UNK] 1, [CLS] 2, [SEP] 3, hello 4, world 5, ##s 6.
    std::string vocabulary() { return m_folder.filePath(QStringLiteral("vocab.txt")).toStdString(); }

    QTemporaryDir m_folder;
};

void TestTextInputs::init() { write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\nhello\nworld\n##s\n"); }

void TestTextInputs::textsInQuotes_data() {
    QTest::addColumn<QByteArray>("item");
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("part");
    QTest::newRow("plain") << QByteArray("'Hello world'#v.txt") << QByteArray("Hello world") << QByteArray("v.txt");
    QTest::newRow("double quotes") << QByteArray("\"it's\"#v.txt,8") << QByteArray("it's") << QByteArray("v.txt,8");
    QTest::newRow("escapes") << QByteArray(R"('\'\"\\\n\t\r\x3b\xc3\xA4'#v)") << QByteArray("'\"\\\n\t\r;\xc3\xa4")
                             << QByteArray("v");
    QTest::newRow("empty") << QByteArray("''#v") << QByteArray() << QByteArray("v");
    QTest::newRow("quotes and # within") << QByteArray("'a#b\"c'#v#1") << QByteArray("a#b\"c") << QByteArray("v#1");
    QTest::newRow("no tokenizer yet") << QByteArray("'a'#") << QByteArray("a") << QByteArray();
}
void TestTextInputs::textsInQuotes() {
    QFETCH(QByteArray, item);
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, part);
    QVERIFY(io::isTextItem(item.toStdString()));
    const auto parsed = io::parseTextItem(item.toStdString());
    QVERIFY2(parsed, parsed ? "" : parsed.error().text().c_str());
    QCOMPARE(QByteArray::fromStdString(parsed->text), text);
    QCOMPARE(QByteArray::fromStdString(parsed->part), part);
    // Written again it is one item of one line, with the same text.
    const std::string again = io::textItemOf(parsed->text, parsed->part);
    QVERIFY(again.find_first_of(";\n\r") == std::string::npos);
    QCOMPARE(QByteArray::fromStdString(io::parseTextItem(again)->text), text);
    for (const char* other : {"'text'", "['a#b']", "'a", "a.txt#v", "'a' #v", R"('a\'#v)"})
        QVERIFY2(!io::isTextItem(other), other);
}

void TestTextInputs::whatStandsBehindATokenizer() {
    const auto part = io::parseTokenizerPart("dir,1/v.txt,16,plain,words,uncased");
    QVERIFY(part);
    QCOMPARE(part->path, std::string("dir,1/v.txt"));
    QCOMPARE(part->length, std::optional<std::size_t>(16));
    QVERIFY(part->isPlain);
    QCOMPARE(part->choice.kind, std::string("words"));
    QCOMPARE(part->choice.lowersCase, std::optional<bool>(true));
    QCOMPARE(io::tokenizerPartText(*part), std::string("dir,1/v.txt,16,plain,words,uncased"));
    QCOMPARE(io::parseTokenizerPart("v,x.txt")->path, std::string("v,x.txt"));
    QVERIFY(!io::parseTokenizerPart(""));
    QVERIFY(!io::parseTokenizerPart("v.txt,0"));
    QVERIFY(!io::parseTokenizerPart("v.txt,1000001"));
}

void TestTextInputs::specificationsWithTexts() {
    using Items = std::vector<std::string_view>;
    QCOMPARE(io::splitSpecification("a:x.npy;;b:#zeros;"), (Items{"a:x.npy", "b:#zeros"}));
    QCOMPARE(io::splitSpecification("ids:'a;b'#v;m:[1]"), (Items{"ids:'a;b'#v", "m:[1]"}));
    QCOMPARE(io::splitSpecification("'a;b'#v"), (Items{"'a;b'#v"}));
    // What is no text is divided as ever.
    QCOMPARE(io::splitSpecification("s:'a;b'"), (Items{"s:'a", "b'"}));
    QCOMPARE(io::splitSpecification("it's;b's"), (Items{"it's", "b's"}));
}

void TestTextInputs::idsInTheShapeOfTheInput_data() {
    QTest::addColumn<std::vector<Dim>>("dims");
    QTest::addColumn<QString>("part");
    QTest::addColumn<Shape>("shape");
    QTest::addColumn<Ids>("ids");
    const Dim n = Dim::named("N"), s = Dim::named("S");
    QTest::newRow("batch and sequence") << std::vector{n, s} << "" << Shape{1, 5} << Ids{2, 4, 5, 6, 3};
    QTest::newRow("sequence") << std::vector{s} << "" << Shape{5} << Ids{2, 4, 5, 6, 3};
    QTest::newRow("padded") << std::vector{n, s} << ",7" << Shape{1, 7} << Ids{2, 4, 5, 6, 3, 0, 0};
    QTest::newRow("cut") << std::vector{n, s} << ",4" << Shape{1, 4} << Ids{2, 4, 5, 3};
    QTest::newRow("plain") << std::vector{n, s} << ",plain" << Shape{1, 3} << Ids{4, 5, 6};
    QTest::newRow("declared length") << std::vector{n, Dim::of(6)} << "" << Shape{1, 6} << Ids{2, 4, 5, 6, 3, 0};
    QTest::newRow("declared batch") << std::vector{Dim::of(2), Dim::of(3)} << "" << Shape{2, 3}
                                    << Ids{2, 4, 3, 2, 4, 3};
}
void TestTextInputs::idsInTheShapeOfTheInput() {
    QFETCH(std::vector<Dim>, dims);
    QFETCH(QString, part);
    QFETCH(Shape, shape);
    QFETCH(Ids, ids);
    const std::string item = "'Hello worlds'#" + vocabulary() + part.toStdString();
    const auto given = io::giveInput(item, input("input_ids", dims), 0);
    QVERIFY2(given, given ? "" : given.error().text().c_str());
    QCOMPARE(given->value.tensor().shape(), shape);
    QCOMPARE(idsOf(given->value), ids);
    const auto narrow = io::giveInput(item, input("input_ids", dims, DType::Int32), 0);
    QVERIFY(narrow && narrow->value.tensor().dtype() == DType::Int32);
    QCOMPARE(given->files.size(), std::size_t{1});
}

void TestTextInputs::notesTellWhatWasDone() {
    const auto note = [&](const std::string& text, const char* part, const char* name = "input_ids") {
        const auto given = io::giveInput("'" + text + "'#" + vocabulary() + part, input(name, kOpen), 0);
        return QString::fromStdString(given ? given->note : given.error().text());
    };
    QCOMPARE(note("Hello", ""), QStringLiteral("3 tokens (WordPiece, lower case): 2 [CLS] · 4 hello · 3 [SEP]"));
    QCOMPARE(note("Hello", ",plain,5"),
             QStringLiteral("1 token (WordPiece, lower case): 4 hello; padded to 5 with 0 [PAD]"));
    QCOMPARE(note("hello x y", ",3"), QStringLiteral("3 tokens (WordPiece, lower case): 2 [CLS] · 4 hello · 3 [SEP]; "
                                                     "cut to 3: 2 tokens left out; 2 unknown"));
    QCOMPARE(note("hello", ",4", "attention_mask"),
             QStringLiteral("attention_mask is that of the text: 3 tokens, 1 of padding"));
    const std::string letters = write("letters.txt", " \na\n");
    const auto given = io::giveInput("'a '#" + letters + ",3", input("x", {Dim::of(2), Dim{}}), 0);
    QCOMPARE(QString::fromStdString(given->note),
             QStringLiteral("2 tokens (characters, lower case): 1 a · 0 ' '; padded to 3 with 0 (the tokenizer has no "
                            "padding token); the same text in each of 2 rows"));
}

void TestTextInputs::files() {
    const std::string prompt = write("prompt.txt", "\xef\xbb\xbfhello\nworld\r\n");
    const auto given = io::giveInput(prompt + "#" + vocabulary() + ",plain", input("x", kOpen), 0);
    QVERIFY2(given, given ? "" : given.error().text().c_str());
    QCOMPARE(idsOf(given->value), (Ids{4, 5}));
    QCOMPARE(given->files.size(), std::size_t{2});
    // Without a tokenizer a text file is no value: neither is it taken for one in a folder.
    QVERIFY(!io::isNamedAsData("prompt.txt"));
    QVERIFY(!io::dataFileKindOf("prompt.txt", {}));
    QVERIFY(io::givesText("prompt.txt#v.txt"));
    QVERIFY(!io::givesText("prompt.txt"));
    QVERIFY(!io::givesText("a.npz#v.txt"));
    const auto alone = io::giveInput(prompt, input("x", kOpen), 0);
    QVERIFY(!alone && alone.error().what == "a text needs the file of its tokenizer");
    QCOMPARE(alone.error().where, prompt);
    // The end of a last line alone is no text.
    QVERIFY(!io::giveInput(write("empty.txt", "\n") + "#" + vocabulary() + ",plain", input("x", kOpen), 0));
}

void TestTextInputs::inputsThatGoWithAText() {
    const std::vector<io::InputInfo> bert{input("input_ids", {Dim::named("batch"), Dim::of(6)}),
                                          input("attention_mask", kOpen), input("token_type_ids", kOpen),
                                          input("position_ids", kOpen)};
    const std::string text = "'hello world'#" + vocabulary();
    for (const std::string& spec : {"input_ids:" + text, text}) {
        const auto cases = io::makeInputs(spec, bert);
        QVERIFY2(cases, cases ? "" : cases.error().text().c_str());
        const auto& values = cases->front().values;
        QCOMPARE(idsOf(values[0]), (Ids{2, 4, 5, 3, 0, 0}));
        QCOMPARE(idsOf(values[1]), (Ids{1, 1, 1, 1, 0, 0}));
        QCOMPARE(idsOf(values[2]), (Ids{0, 0, 0, 0, 0, 0}));
        QCOMPARE(idsOf(values[3]), (Ids{0, 1, 2, 3, 0, 0}));
        QCOMPARE(cases->front().notes.size(), std::size_t{4});
    }
    // What is given stays.
    const auto own = io::makeInputs("input_ids:" + text + ";attention_mask:[[1,0,0,0,0,0]]", bert);
    QVERIFY2(own, own ? "" : own.error().text().c_str());
    QCOMPARE(idsOf(own->front().values[1]), (Ids{1, 0, 0, 0, 0, 0}));
    // Two texts: which one a mask belongs to is not known.
    const std::vector<io::InputInfo> two{input("a", kOpen), input("b", kOpen), input("attention_mask", kOpen)};
    const auto unknown = io::makeInputs("a:" + text + ";b:" + text, two);
    QVERIFY(!unknown && unknown.error().what == "no value for input 'attention_mask'");
    // Masks of floats, as some exporters have them.
    const auto real = io::giveInput(text + ",5", input("attention_mask", kOpen, DType::Float32), 0);
    QVERIFY2(real, real ? "" : real.error().text().c_str());
    QCOMPARE(real->value.tensor().toDouble(4), 0.0);
    QCOMPARE(real->value.tensor().toDouble(3), 1.0);
}

void TestTextInputs::rolesByName() {
    using io::TextRole;
    for (const char* name :
         {"attention_mask", "attention_mask:0", "bert/attention_mask", "input_mask", "attention_mask_1"})
        QVERIFY2(io::textRoleOf(name) == TextRole::Mask, name);
    for (const char* name : {"token_type_ids", "segment_ids:0"})
        QVERIFY2(io::textRoleOf(name) == TextRole::Types, name);
    QVERIFY(io::textRoleOf("position_ids") == TextRole::Positions);
    for (const char* name : {"input_ids", "x", "mask", "", "_1", "my_attention_mask"})
        QVERIFY2(io::textRoleOf(name) == TextRole::Ids, name);
}

void TestTextInputs::refusals_data() {
    QTest::addColumn<QString>("item");
    QTest::addColumn<QString>("message");
    QTest::newRow("no tokenizer") << "'hello'#"
                                  << "a text needs the file of its tokenizer";
    QTest::newRow("no such file") << "'hello'#none.txt"
                                  << "no such file (none.txt)";
    QTest::newRow("escape") << R"('\q'#@)"
                            << R"('\q' is no escape of a text)";
    QTest::newRow("half an escape") << R"('\x4'#@)"
                                    << R"('\x' is no escape of a text)";
    QTest::newRow("length") << "'a'#@,0"
                            << "a length of 0 tokens is not possible";
    QTest::newRow("no room") << "'a'#@,1"
                             << "the tokenizer adds 2 special tokens, and there is room for 1 in all";
    QTest::newRow("empty") << "''#@,plain"
                           << "the text is empty";
}
void TestTextInputs::refusals() {
    QFETCH(QString, item);
    QFETCH(QString, message);
    const QString whole = item.replace(QLatin1Char('@'), QString::fromStdString(vocabulary()));
    const auto given = io::giveInput(whole.toStdString(), input("x", kOpen), 0);
    QVERIFY(!given);
    const QString text = QString::fromStdString(given.error().text());
    QVERIFY2(text.contains(message), qPrintable(text));
}

/// A model may declare any length: it is refused before a text is padded to it.
void TestTextInputs::lengthsThatNoTextHas() {
    for (const std::int64_t length : {std::int64_t{1} << 28, std::int64_t{1} << 40, std::int64_t{1} << 62}) {
        const auto given = io::giveInput("'hello'#" + vocabulary(), input("x", {Dim::of(1), Dim::of(length)}), 0);
        QVERIFY(!given);
        QVERIFY2(given.error().text().find("and a text gives 134,217,728 at most") != std::string::npos,
                 given.error().text().c_str());
    }
}

/// Sessions store these relative to their folder, and read nothing outside of it.
void TestTextInputs::pathsOfAnItem() {
    const auto paths = [](const std::string& item) {
        QStringList found;
        for (const auto& [begin, size] : io::pathsInItem(item))
            found << QString::fromStdString(item.substr(begin, size));
        return found.join(QLatin1Char(' '));
    };
    QCOMPARE(paths("'a/b'#dir/v.json,16"), QStringLiteral("dir/v.json"));
    QCOMPARE(paths("p.txt#v.json,plain"), QStringLiteral("p.txt v.json"));
    QCOMPARE(paths("'a'#"), QString());
    QCOMPARE(paths("a.npz#key"), QStringLiteral("a.npz"));
    QCOMPARE(paths("s.wav#16000"), QStringLiteral("s.wav"));
    QCOMPARE(paths("[1,2]"), QString());
    QCOMPARE(paths("#zeros"), QString());
    const auto named = io::filesNamedIn("ids:'a;b'#v.json,16;m:#zeros");
    QVERIFY(std::ranges::find(named, std::filesystem::path("v.json")) != named.end());
}

void TestTextInputs::whatTakesAText() {
    QVERIFY(io::takesText(TypeInfo::tensor(DType::Int64, kOpen)));
    QVERIFY(io::takesText(TypeInfo::tensor(DType::Int32, std::vector{Dim{}})));
    QVERIFY(!io::takesText(TypeInfo::tensor(DType::Float32, kOpen)));
    QVERIFY(!io::takesText(TypeInfo::tensor(DType::Int64, Shape{1, 3, 4})));
    QVERIFY(!io::takesText(TypeInfo::tensor(DType::String, kOpen)));
    const auto refused = io::giveInput("'a'#" + vocabulary(), input("x", kOpen, DType::Float32), 0);
    QVERIFY(!refused && refused.error().what.find("which no text gives") != std::string::npos);
    QCOMPARE(io::tokenizerBeside(m_folder.filePath("model.onnx").toStdString()), vocabulary());
    write("tokenizer.json", "{}");
    QCOMPARE(io::tokenizerBeside(m_folder.filePath("model.onnx").toStdString()),
             m_folder.filePath("tokenizer.json").toStdString());
}

QTEST_GUILESS_MAIN(TestTextInputs)

}  // namespace tst_text_inputs

#include "tst_text_inputs.moc"
