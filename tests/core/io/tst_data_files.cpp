// Recordings and tables as values of inputs. What a file holds is written here byte by byte.

#include <QFile>
#include <QTemporaryDir>
#include <QtEndian>
#include <QtTest>

#include <cmath>
#include <numbers>

#include "core/io/inputs/data_files.h"
#include "core/io/inputs/inputs.h"

namespace tst_data_files {

using namespace sonde;
using tensor::Dim;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::TypeInfo;

namespace {

template <typename T>
QByteArray little(T value) {
    QByteArray bytes(sizeof(T), '\0');
    qToLittleEndian(value, bytes.data());
    return bytes;
}

/// A WAV file of 16-bit samples, those of all channels in turn (Microsoft/IBM Multimedia Programming Interface 1.0).
QByteArray wave(int channels, int rate, const std::vector<std::int16_t>& samples) {
    QByteArray data;
    for (const std::int16_t sample : samples) data += little<qint16>(sample);
    QByteArray format = little<quint16>(1) + little<quint16>(channels) + little<quint32>(rate) +
                        little<quint32>(rate * channels * 2) + little<quint16>(channels * 2) + little<quint16>(16);
    QByteArray body = "WAVEfmt " + little<quint32>(16) + format + "data" + little<quint32>(data.size()) + data;
    return "RIFF" + little<quint32>(body.size()) + body;
}

io::InputInfo input(std::vector<Dim> dims, DType dtype = DType::Float32) {
    return {"x", TypeInfo::tensor(dtype, std::move(dims))};
}

std::vector<double> elements(const Tensor& tensor) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < tensor.numel(); ++i) values.push_back(tensor.toDouble(i));
    return values;
}

}  // namespace

class TestDataFiles : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void recordingsHaveTheLayoutOfTheInput_data();
    void recordingsHaveTheLayoutOfTheInput();
    void aPartOfARecording();
    void whatIsMissingIsSaid_data();
    void whatIsMissingIsSaid();
    void anotherRate();
    void tables_data();
    void tables();
    void tablesOfAnotherRank();
    void integersThatNoDoubleHolds();
    void refusals_data();
    void refusals();
    void aTextNeedsItsTokenizer();
    void lengthsThatNoRecordingHas();
    void kindsByContentAndByName();

  private:
    std::string write(const char* name, const QByteArray& content) {
        QFile file(m_folder.filePath(QLatin1String(name)));
        if (!file.open(QIODevice::WriteOnly)) return {};
        file.write(content);
        return file.fileName().toStdString();
    }

    QTemporaryDir m_folder;
};

void TestDataFiles::recordingsHaveTheLayoutOfTheInput_data() {
    QTest::addColumn<int>("channels");
    QTest::addColumn<std::vector<Dim>>("dims");
    QTest::addColumn<Shape>("shape");
    QTest::addColumn<std::vector<double>>("expected");
    QTest::addColumn<QString>("note");
    // Samples: 0.5, -0.5, 0.25, 0 (of 32768).
    const Dim n = Dim::named("N"), s = Dim::named("S");
    QTest::newRow("batch and samples") << 1 << std::vector{n, s} << Shape{1, 4} << std::vector{0.5, -0.5, 0.25, 0.}
                                       << "";
    QTest::newRow("samples") << 1 << std::vector{s} << Shape{4} << std::vector{0.5, -0.5, 0.25, 0.} << "";
    QTest::newRow("batch, channels, samples")
        << 2 << std::vector{n, Dim{}, s} << Shape{1, 2, 2} << std::vector{0.5, 0.25, -0.5, 0.} << "";
    QTest::newRow("mixed down") << 2 << std::vector{n, s} << Shape{1, 2} << std::vector{0., 0.125}
                                << "2 channels are mixed into one";
    QTest::newRow("as many channels") << 2 << std::vector{Dim::of(2), s} << Shape{2, 2}
                                      << std::vector{0.5, 0.25, -0.5, 0.} << "";
    QTest::newRow("shorter input") << 1 << std::vector{n, Dim::of(3)} << Shape{1, 3} << std::vector{0.5, -0.5, 0.25}
                                   << "the first 3 of 4 samples are used";
    QTest::newRow("longer input") << 1 << std::vector{n, Dim::of(5)} << Shape{1, 5}
                                  << std::vector{0.5, -0.5, 0.25, 0., 0.} << "silence follows the 4 samples up to 5";
}
void TestDataFiles::recordingsHaveTheLayoutOfTheInput() {
    QFETCH(int, channels);
    QFETCH(std::vector<Dim>, dims);
    QFETCH(Shape, shape);
    QFETCH(std::vector<double>, expected);
    QFETCH(QString, note);
    const std::string path = write("a.wav", wave(channels, 8000, {16384, -16384, 8192, 0}));
    const auto given = io::giveInput(path, input(dims), 0);
    QVERIFY2(given, given ? "" : given.error().text().c_str());
    QCOMPARE(given->value.tensor().shape(), shape);
    QCOMPARE(elements(given->value.tensor()), expected);
    QCOMPARE(QString::fromStdString(given->note), note);
}

void TestDataFiles::aPartOfARecording() {
    const std::string path = write("a.wav", wave(1, 8000, {0, 4096, 8192, 12288, 16384}));
    const auto part = io::giveInput(path + "#,1,3", input({Dim::named("N"), Dim::named("S")}), 0);
    QVERIFY2(part, part ? "" : part.error().text().c_str());
    QCOMPARE(elements(part->value.tensor()), (std::vector{0.125, 0.25, 0.375}));
    const auto integers = io::giveInput(path + "#8000,3", input({Dim::named("S")}, DType::Int16), 0);
    QVERIFY2(integers, integers ? "" : integers.error().text().c_str());
    QCOMPARE(elements(integers->value.tensor()), (std::vector{12288., 16384.}));
}

/// The lengths that heads declare are those of Microsoft's and Apple's formats.
void TestDataFiles::whatIsMissingIsSaid_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QString>("part");
    QTest::addColumn<int>("length");  // of the input; 0: any
    QTest::addColumn<int>("samples");
    QTest::addColumn<QString>("note");
    const QByteArray whole = wave(1, 8000, {1, 2, 3, 4, 5, 6});
    const QString early = QStringLiteral("the file ends early: the last %1 of its %2 samples are missing");
    QTest::newRow("whole") << whole << "" << 0 << 6 << "";
    QTest::newRow("cut") << whole.chopped(4) << "" << 0 << 4 << early.arg(2).arg(6);
    QTest::newRow("within a sample") << whole.chopped(3) << "" << 0 << 4 << early.arg(2).arg(6);
    QTest::newRow("two channels") << wave(2, 8000, {1, 1, 2, 2, 3, 3}).chopped(4) << "" << 0 << 2
                                  << early.arg(1).arg(3) + "; 2 channels are mixed into one";
    QTest::newRow("followed by silence") << whole.chopped(4) << "" << 5 << 5
                                         << early.arg(2).arg(6) + "; silence follows the 4 samples up to 5";
    QTest::newRow("a part that is whole") << whole << "#,2,3" << 0 << 3 << "";
    QTest::newRow("a part") << whole << "#,2,9" << 0 << 4 << "from sample 2 on there are 4, not 9";
    QTest::newRow("up to the end") << whole << "#,2" << 0 << 4 << "";
    // A program that writes to a pipe does not know the length.
    QByteArray piped = whole;
    piped.replace(40, 4, little<quint32>(0xffffffff));
    QTest::newRow("piped") << piped << "" << 0 << 6 << "";
    const QByteArray rate = QByteArray::fromHex("400bfa00000000000000");  // 8000 as an 80-bit float
    const QByteArray common = "COMM" +
                              QByteArray::fromHex(
                                  "00000012"
                                  "0001"
                                  "00000003"
                                  "0010") +
                              rate;
    const QByteArray sound = "SSND" + QByteArray::fromHex(
                                          "0000000e"
                                          "00000000"
                                          "00000000"
                                          "000100020003");
    const QByteArray aiff = "FORM" + QByteArray::fromHex("00000034") + "AIFF" + common + sound;
    QTest::newRow("AIFF") << aiff << "" << 0 << 3 << "";
    QTest::newRow("cut AIFF") << aiff.chopped(2) << "" << 0 << 2 << early.arg(1).arg(3);
}

void TestDataFiles::whatIsMissingIsSaid() {
    QFETCH(QByteArray, content);
    QFETCH(QString, part);
    QFETCH(int, length);
    QFETCH(int, samples);
    QFETCH(QString, note);
    const std::string path = write("cut.wav", content);
    const Dim size = length > 0 ? Dim::of(length) : Dim{};
    const auto given = io::giveInput(path + part.toStdString(), input({size}), 0);
    QVERIFY2(given, given ? "" : given.error().what.c_str());
    QCOMPARE(given->value.tensor().numel(), std::int64_t{samples});
    QCOMPARE(QString::fromStdString(given->note), note);
}

/// A tone of 440 Hz is the same tone at another rate.
void TestDataFiles::anotherRate() {
    const auto tone = [](int rate, int i) { return 0.5 * std::sin(2 * std::numbers::pi * 440 * i / rate); };
    std::vector<std::int16_t> samples;
    for (int i = 0; i < 44100; ++i) samples.push_back(static_cast<std::int16_t>(std::lround(32768 * tone(44100, i))));
    const std::string path = write("tone.wav", wave(1, 44100, samples));
    const auto given = io::giveInput(path + "#16000", input({Dim::named("S")}), 0);
    QVERIFY2(given, given ? "" : given.error().text().c_str());
    QCOMPARE(QString::fromStdString(given->note), QStringLiteral("resampled from 44100 to 16000 Hz"));
    const Tensor& tensor = given->value.tensor();
    QVERIFY2(std::abs(tensor.numel() - 16000) <= 1, qPrintable(QString::number(tensor.numel())));
    double worst = 0;  // away from both ends, where the filter sees silence
    for (int i = 200; i < 15800; ++i) worst = std::max(worst, std::abs(tensor.toDouble(i) - tone(16000, i)));
    QVERIFY2(worst < 1e-3, qPrintable(QString::number(worst)));
}

void TestDataFiles::tables_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<std::vector<Dim>>("dims");
    QTest::addColumn<Shape>("shape");
    QTest::addColumn<std::vector<double>>("expected");
    const std::vector<Dim> open{Dim{}, Dim{}};
    const std::vector<double> numbers{1, 2, 3, -4.5e1, 0, 6};
    QTest::newRow("commas") << QByteArray("1,2,3\n-4.5e1,0,6\n") << open << Shape{2, 3} << numbers;
    QTest::newRow("no last line end") << QByteArray("1,2,3\n-45,0,6") << open << Shape{2, 3} << numbers;
    QTest::newRow("semicolons, Windows") << QByteArray("1;2;3\r\n-45;0;6\r\n") << open << Shape{2, 3} << numbers;
    QTest::newRow("tabs, names") << QByteArray("a\tb\tc\n1\t2\t3\n-45\t0\t6\n") << open << Shape{2, 3} << numbers;
    QTest::newRow("quoted, byte order mark")
        << QByteArray("\xEF\xBB\xBF\"a, \"\"b\"\"\",b,c\n\"1\", 2 ,+3\n-45,0,6\n\n") << open << Shape{2, 3} << numbers;
    QTest::newRow("a column as a list") << QByteArray("1\n2\n3\n") << std::vector{Dim::named("N")} << Shape{3}
                                        << std::vector{1., 2., 3.};
    QTest::newRow("in the input's shape")
        << QByteArray("1,2,3\n-45,0,6\n") << std::vector{Dim::named("N"), Dim::of(3), Dim::of(1)} << Shape{2, 3, 1}
        << numbers;
}
void TestDataFiles::tables() {
    QFETCH(QByteArray, text);
    QFETCH(std::vector<Dim>, dims);
    QFETCH(Shape, shape);
    QFETCH(std::vector<double>, expected);
    const auto given = io::giveInput(write("a.csv", text), input(dims, DType::Float64), 0);
    QVERIFY2(given, given ? "" : given.error().text().c_str());
    QCOMPARE(given->value.tensor().shape(), shape);
    QCOMPARE(elements(given->value.tensor()), expected);
}

/// What a .npy of that shape would be refused for is taken of a table only where one order is meant, and is told.
void TestDataFiles::tablesOfAnotherRank() {
    const std::string table = write("a.csv", "a,b,c\n1,2,3\n4,5,6\n");
    const auto list = io::giveInput(table, input({Dim::named("T")}, DType::Float32), 0);
    QVERIFY(!list);
    QVERIFY2(list.error().text().find("float64[2,3]") != std::string::npos, list.error().text().c_str());
    const auto three = io::giveInput(table, input({Dim::named("N"), Dim::of(3), Dim::of(1)}, DType::Float32), 0);
    QVERIFY2(three, three ? "" : three.error().text().c_str());
    QCOMPARE(QString::fromStdString(three->note),
             QStringLiteral("the first line is taken as names of columns; the table of 2 x 3 is taken as [2,3,1], row "
                            "after row"));
    const auto column = io::giveInput(write("b.csv", "1\n2\n"), input({Dim::named("T")}, DType::Float32), 0);
    QVERIFY(column);
    QVERIFY2(column->note.empty(), column->note.c_str());
    const auto same = io::giveInput(table, input({Dim{}, Dim{}}, DType::Float32), 0);
    QVERIFY(same);
    QVERIFY(same->note.find("taken as [") == std::string::npos);
}

void TestDataFiles::integersThatNoDoubleHolds() {
    const auto open = std::vector{Dim::named("R"), Dim::named("C")};
    const auto read = [&](const char* text, DType dtype) {
        return io::giveInput(write("a.csv", text), input(open, dtype), 0);
    };
    const auto given = read("7,9007199254740993\n-9223372036854775807, 2\n", DType::Int64);
    QVERIFY2(given, given ? "" : given.error().text().c_str());
    const auto values = given->value.tensor().span<std::int64_t>();
    const std::vector<std::int64_t> expected{7, 9007199254740993, -9223372036854775807, 2};
    QCOMPARE((std::vector<std::int64_t>(values.begin(), values.end())), expected);
    QVERIFY(read("7,9007199254740993\n", DType::Float64));  // floats are rounded
    io::InputInfo strict = input(open, DType::Float32);
    strict.required = strict.type;
    for (const auto& [text, isHeld] : {std::pair("1.5,16777217\n", false), std::pair("1.5,16777218\n", true),
                                       std::pair("1.5,16777217.0\n", true), std::pair("nan,1\n-NaN,-inf\n", true)})
        QCOMPARE(static_cast<bool>(io::giveInput(write("a.csv", text), strict, 0)), isHeld);
    const auto tooLong = read("7,18446744073709551615\n", DType::UInt64);
    QVERIFY(!tooLong);
    QVERIFY2(tooLong.error().text().find("has more digits than int64 holds") != std::string::npos,
             tooLong.error().text().c_str());
}

void TestDataFiles::refusals_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QString>("message");
    const auto row = [](const char* what, const char* name, const QByteArray& content, const char* message) {
        QTest::newRow(what) << QString::fromLatin1(name) << content << QString::fromUtf8(message);
    };
    const QByteArray sound = wave(1, 8000, {1, 2, 3});
    row("a word in a table", "a.csv", "1,2\n3,four\n", "'four' is no number (");
    row("its place", "a.csv", "1,2\n3,four\n", "line 2, column 2");
    row("an empty cell", "a.csv", "1,2\n3,\n", "'' is no number");
    row("rows of other lengths", "a.csv", "1,2\n3\n", "the row has 1 cell and the first one 2");
    row("an open quotation mark", "a.csv", "1,\"2\n", "a quotation mark is never closed");
    row("only names", "a.csv", "a,b\n", "the table has no numbers");
    row("an empty table", "a.csv", "", "the table has no numbers");
    row("a cut header", "a.wav", sound.left(20), "the recording cannot be read");
    row("no samples", "a.wav", wave(1, 8000, {}), "the recording has no samples");
    row("a rate of 0", "a.wav", wave(1, 0, {1, 2}), "the head of the recording says 0 samples per second");
    row("the largest rate", "a.wav", wave(1, 2147483647, {1, 2}),
        "the head of the recording says 2,147,483,647 samples per second");
    row("another rate by far", "a.wav#16000", wave(1, 1, {1, 2}),
        "the recording cannot be brought from 1 to 16000 samples per second");
    row("not a recording", "a.wav", "hello", "the recording cannot be read");
    row("another kind", "a.bin", "hello", "the file is of no kind that an input is read from");
    row("behind the end", "a.wav#,9", sound, "the recording has 3 samples: none from 9");
    row("no number", "a.wav#fast", sound, "'fast' is no count of samples");
    row("too many", "a.wav#1,2,3,4", sound, "is no part of a recording");
    row("no rate", "a.wav#0", sound, "is no part of a recording");
}
void TestDataFiles::refusals() {
    QFETCH(QString, name);
    QFETCH(QByteArray, content);
    QFETCH(QString, message);
    const QString file = name.section(QLatin1Char('#'), 0, 0);
    const std::string path = write(file.toLatin1().constData(), content);
    const auto given = io::giveInput(path + name.mid(file.size()).toStdString(), input({Dim{}, Dim{}}), 0);
    QVERIFY(!given);
    const QString text = QString::fromStdString(given.error().text());
    QVERIFY2(text.contains(message), qPrintable(text));
}

/// For an input of numbers it would be ids; an input of strings takes it as it is.
void TestDataFiles::aTextNeedsItsTokenizer() {
    const auto ids = io::giveInput("'hello'", input({Dim{}, Dim{}}, DType::Int64), 0);
    QVERIFY(!ids);
    QCOMPARE(QString::fromStdString(ids.error().text()),
             QStringLiteral("a text needs the file of its tokenizer (input 'x')"));
    const auto text = io::giveInput("'hello'", input({}, DType::String), 0);
    QVERIFY2(text, text ? "" : text.error().text().c_str());
}

/// A model may declare any length, also one that times two is none.
void TestDataFiles::lengthsThatNoRecordingHas() {
    const std::string path = write("a.wav", wave(2, 8000, {1, 2, 3, 4}));
    for (const std::int64_t length : {std::int64_t{1} << 27, std::int64_t{1} << 62, (std::int64_t{1} << 62) + 1}) {
        const auto given = io::giveInput(path, input({Dim::of(2), Dim::of(length)}), 0);
        QVERIFY(!given);
        const std::string expected = "the input takes " + std::to_string(length) + " samples";
        QVERIFY2(given.error().text().find(expected) != std::string::npos, given.error().text().c_str());
    }
}

void TestDataFiles::kindsByContentAndByName() {
    const auto kindOf = [](const char* path, const QByteArray& head) {
        const auto* kind =
            io::dataFileKindOf(path, std::as_bytes(std::span(head.constData(), std::size_t(head.size()))));
        return kind ? QString::fromUtf8(kind->name.data(), qsizetype(kind->name.size())) : QString();
    };
    QCOMPARE(kindOf("recorded", wave(1, 8000, {1})), QStringLiteral("recording"));
    QCOMPARE(kindOf("picture.wav", "P6\n1 1\n255\n"), QStringLiteral("image"));
    QCOMPARE(kindOf("damaged.PNG", "?"), QStringLiteral("image"));
    QCOMPARE(kindOf("numbers.csv", "1,2"), QStringLiteral("table"));
    QCOMPARE(kindOf("text", "1,2"), QString());
    QVERIFY(io::isNamedAsData("a.npz"));
    QVERIFY(!io::isNamedAsData("a.onnx"));
    QCOMPARE(io::splitDataItem("a.wav#16000"), (std::pair<std::string, std::string>("a.wav", "16000")));
    QCOMPARE(io::splitDataItem("a.png#1"), (std::pair<std::string, std::string>("a.png#1", "")));
    const std::string odd = write("odd#1.wav", wave(1, 8000, {1}));
    QCOMPARE(io::splitDataItem(odd).first, odd);
}

QTEST_GUILESS_MAIN(TestDataFiles)

}  // namespace tst_data_files

#include "tst_data_files.moc"
