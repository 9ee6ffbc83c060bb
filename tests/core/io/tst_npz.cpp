// Arrays as numpy writes them: the reference files of tests/data were made by numpy, the headers here are written by
// hand after numpy/lib/format.py.

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <cstring>

#include "core/io/npz/npy.h"
#include "core/io/npz/npz.h"

namespace tst_npz {

using namespace sonde;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

namespace {

std::vector<std::byte> npy(const std::string& header, const std::vector<std::uint8_t>& data, int major = 1) {
    std::string text = header;
    text.resize((text.size() + 1 + 10 + 63) / 64 * 64 - 11, ' ');
    text += '\n';
    std::string bytes = std::string("\x93NUMPY") + static_cast<char>(major) + '\0';
    bytes += static_cast<char>(text.size() & 0xff);
    bytes += static_cast<char>(text.size() >> 8);
    if (major > 1) bytes += std::string(2, '\0');
    bytes += text;
    bytes.append(reinterpret_cast<const char*>(data.data()), data.size());
    const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
    return {begin, begin + bytes.size()};
}

base::Result<Tensor> read(const std::string& header, const std::vector<std::uint8_t>& data, int major = 1) {
    const auto bytes = std::make_shared<std::vector<std::byte>>(npy(header, data, major));
    return io::readNpy(*bytes, bytes, "test");
}

QString dataFile(const char* name) { return QStringLiteral(SONDE_TEST_DATA "/models/") + name; }

}  // namespace

class TestNpz : public QObject {
    Q_OBJECT

  private slots:
    void readsEveryNumberType_data();
    void readsEveryNumberType();
    void fortranOrderGivesTheSameElements();
    void bigEndianIsTurnedRound();
    void boolsAreZeroOrOne();
    void textIsRead();
    void brokenTextIsWritten();
    void emptyArraysAndScalars();
    void refusesWhatItCannotKnow_data();
    void refusesWhatItCannotKnow();
    void readsNumpysFile();
    void typesAreKnownWithoutTheData();
    void storedArraysLieInTheFile();
    void writesWhatItReads();
    void sameArraysGiveSameBytes();
    void damagedFilesAreErrors();
    void ofTwoEntriesOfAKeyTheLastCounts();
};

void TestNpz::readsEveryNumberType_data() {
    QTest::addColumn<QString>("description");
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<double>("value");
    const auto row = [](const char* description, auto value, double expected) {
        QByteArray bytes(sizeof value, 0);
        std::memcpy(bytes.data(), &value, sizeof value);
        QTest::newRow(description) << QString(description) << bytes << expected;
    };
    row("|i1", std::int8_t(-7), -7);
    row("|u1", std::uint8_t(200), 200);
    row("<i2", std::int16_t(-300), -300);
    row("<u2", std::uint16_t(60000), 60000);
    row("<i4", std::int32_t(-70000), -70000);
    row("<u4", std::uint32_t(4000000000u), 4000000000.0);
    row("<i8", std::int64_t(-5000000000), -5000000000.0);
    row("<u8", std::uint64_t(5000000000), 5000000000.0);
    row("<f4", 0.5f, 0.5);
    row("<f8", -0.25, -0.25);
    row("<f2", std::uint16_t(0x3e00), 1.5);  // IEEE half: exponent 15, mantissa 0.5
    row("|b1", std::uint8_t(1), 1);
}

void TestNpz::readsEveryNumberType() {
    QFETCH(QString, description);
    QFETCH(QByteArray, bytes);
    QFETCH(double, value);
    const auto tensor = read("{'descr': '" + description.toStdString() + "', 'fortran_order': False, 'shape': (1,), }",
                             {bytes.begin(), bytes.end()});
    QVERIFY2(tensor.has_value(), tensor ? "" : tensor.error().text().c_str());
    QCOMPARE(tensor->shape(), (Shape{1}));
    QCOMPARE(tensor->toDouble(0), value);
}

void TestNpz::fortranOrderGivesTheSameElements() {
    // [[1,2,3],[4,5,6]] column by column.
    const auto tensor = read("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", {1, 4, 2, 5, 3, 6});
    QVERIFY(tensor.has_value());
    QCOMPARE(tensor->shape(), (Shape{2, 3}));
    for (int i = 0; i < 6; ++i) QCOMPARE(tensor->toDouble(i), i + 1.0);
}

void TestNpz::bigEndianIsTurnedRound() {
    const auto tensor =
        read("{'descr': '>i4', 'fortran_order': False, 'shape': (2,), }", {0, 0, 1, 2, 255, 255, 255, 254}, 2);
    QVERIFY(tensor.has_value());
    QCOMPARE(tensor->toInt64(0), 258);
    QCOMPARE(tensor->toInt64(1), -2);
}

void TestNpz::boolsAreZeroOrOne() {
    const auto tensor = read("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", {0, 7, 1});
    QVERIFY(tensor.has_value());
    QCOMPARE(tensor->dtype(), DType::Bool);
    QCOMPARE(int(tensor->data<std::uint8_t>()[1]), 1);
}

void TestNpz::textIsRead() {
    // 'ä' is U+00E4; text is padded with zeros to the width.
    const auto wide = read("{'descr': '<U2', 'fortran_order': False, 'shape': (2,), }",
                           {0xe4, 0, 0, 0, 'b', 0, 0, 0, 'c', 0, 0, 0, 0, 0, 0, 0});
    QVERIFY(wide.has_value());
    QCOMPARE(wide->strings()[0], std::string("\xc3\xa4"
                                             "b"));
    QCOMPARE(wide->strings()[1], std::string("c"));
    const auto narrow = read("{'descr': '|S3', 'fortran_order': False, 'shape': (1,), }", {'a', 'b', 0});
    QVERIFY(narrow.has_value());
    QCOMPARE(narrow->strings()[0], std::string("ab"));
    // A lone surrogate and U+110000 are no characters, U+1F600 has four bytes.
    const auto odd = read("{'descr': '<U3', 'fortran_order': False, 'shape': (1,), }",
                          {0, 0xd8, 0, 0, 0, 0, 0x11, 0, 0x00, 0xf6, 1, 0});
    QVERIFY(odd.has_value());
    QCOMPARE(odd->strings()[0], std::string("\xef\xbf\xbd\xef\xbf\xbd\xf0\x9f\x98\x80"));
}

/// Bytes that are not UTF-8 are written as characters of their own: Latin-1, as numpy decodes bytes that way.
void TestNpz::brokenTextIsWritten() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("a.npz").toStdString();
    const std::vector<io::NamedTensor> arrays{{"x", Tensor::ofStrings({1}, {"a\xff\xc3(\xe2\x82\xac"})}};
    QVERIFY(io::writeNpz(path, arrays).has_value());
    const auto file = io::NpzFile::open(path);
    QVERIFY(file.has_value());
    QCOMPARE(file->read("x")->strings()[0], std::string("a\xc3\xbf\xc3\x83(\xe2\x82\xac"));
}

void TestNpz::emptyArraysAndScalars() {
    const auto empty = read("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), }", {});
    QVERIFY(empty.has_value());
    QCOMPARE(empty->shape(), (Shape{0, 3}));
    const auto scalar = read("{'descr': '|u1', 'fortran_order': False, 'shape': (), }", {9});
    QVERIFY(scalar.has_value());
    QCOMPARE(scalar->rank(), std::size_t{0});
    QCOMPARE(scalar->toInt64(0), 9);
}

void TestNpz::refusesWhatItCannotKnow_data() {
    QTest::addColumn<QString>("header");
    QTest::newRow("objects") << "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }";
    QTest::newRow("records") << "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }";
    QTest::newRow("more than is there")
        << "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000, 1000000000), }";
    QTest::newRow("overflow") << "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4), }";
    QTest::newRow("negative") << "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }";
    QTest::newRow("unknown type") << "{'descr': '<f3', 'fortran_order': False, 'shape': (1,), }";
    QTest::newRow("no shape") << "{'descr': '<f4', 'fortran_order': False, }";
    QTest::newRow("code") << "{'descr': __import__('os'), 'fortran_order': False, 'shape': (1,), }";
}

void TestNpz::refusesWhatItCannotKnow() {
    QFETCH(QString, header);
    const auto tensor = read(header.toStdString(), {0, 0, 0, 0});
    QVERIFY(!tensor);
    QCOMPARE(tensor.error().exitStatus(), 3);
    QVERIFY(!tensor.error().what.empty());
}

void TestNpz::readsNumpysFile() {
    const auto file = io::NpzFile::open(dataFile("lstm_classifier.npz").toStdString());
    QVERIFY(file.has_value());
    QVERIFY(file->has("in.tokens"));
    QVERIFY(file->has("case1.out.logp"));
    const auto tokens = file->read("in.tokens");
    QVERIFY(tokens.has_value());
    QCOMPARE(tokens->typeText(), std::string("int64[2,15]"));
    const auto logp = file->read("out.logp");
    QVERIFY(logp.has_value());
    QCOMPARE(logp->typeText(), std::string("float32[2,5]"));
    // log_softmax: the exponentials of a row sum up to one.
    for (int row = 0; row < 2; ++row) {
        double sum = 0;
        for (int i = 0; i < 5; ++i) sum += std::exp(logp->toDouble(row * 5 + i));
        QVERIFY(std::abs(sum - 1) < 1e-5);
    }
    const auto missing = file->read("nothing");
    QVERIFY(!missing);
    QVERIFY(QString::fromStdString(missing.error().hint).contains("in.tokens"));
}

void TestNpz::typesAreKnownWithoutTheData() {
    const auto file = io::NpzFile::open(dataFile("gpt_mini.npz").toStdString());
    QVERIFY(file && !file->keys().empty());
    for (const std::string& key : file->keys()) {
        const auto type = file->type(key);
        const auto array = file->read(key);
        QVERIFY2(type && array, key.c_str());
        QCOMPARE(type->text(), tensor::TypeInfo::tensor(array->dtype(), array->shape()).text());
    }
    QVERIFY(!file->type("none of them").has_value());
}

void TestNpz::storedArraysLieInTheFile() {
    const auto archive = io::ZipArchive::open(std::filesystem::path(dataFile("lstm_classifier.npz").toStdString()));
    QVERIFY(archive.has_value());
    for (const io::ZipEntry& entry : (*archive)->entries()) {
        QVERIFY(entry.stored);
        const auto data = (*archive)->read(entry);
        QVERIFY(data.has_value());
        const std::byte* behindHeader = (*archive)->file().bytes().data() + entry.header + 30 + entry.name.size();
        QVERIFY(data->bytes.data() >= behindHeader &&
                data->bytes.data() + data->bytes.size() <=
                    (*archive)->file().bytes().data() + (*archive)->file().sizeBytes());
        QCOMPARE(QByteArray(reinterpret_cast<const char*>(data->bytes.data()), 6), QByteArray("\x93NUMPY"));
    }
}

void TestNpz::writesWhatItReads() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("a.npz").toStdString();
    const std::vector<io::NamedTensor> arrays{
        {"node.x", Tensor::of<float>({2, 2}, {1, 2, 3, 4})},
        {"in.text", Tensor::ofStrings({2}, {"a\xc3\xa4", ""})},
        {"out.s", Tensor::scalar<std::int64_t>(-3)},
        {"b", Tensor::of<bool>({2}, {true, false})},
        {"empty", *Tensor::zeros(DType::Float64, {0})},
        {"turned", Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6}).transposed(0, 1)},
    };
    QVERIFY(io::writeNpz(path, arrays).has_value());
    const auto file = io::NpzFile::open(path);
    QVERIFY(file.has_value());
    for (const auto& [key, tensor] : arrays) {
        const auto back = file->read(key);
        QVERIFY2(back.has_value(), key.c_str());
        QVERIFY2(tensor::identical(*back, tensor), key.c_str());
    }
}

void TestNpz::sameArraysGiveSameBytes() {
    QTemporaryDir folder;
    const std::vector<io::NamedTensor> arrays{{"x", Tensor::of<float>({1}, {1})}};
    QByteArray contents[2];
    for (int i = 0; i < 2; ++i) {
        QVERIFY(io::writeNpz(folder.filePath("a.npz").toStdString(), arrays).has_value());
        QFile file(folder.filePath("a.npz"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        contents[i] = file.readAll();
        // Times in zip archives count in steps of two seconds: the second one is made in another step.
        const qint64 step = QDateTime::currentSecsSinceEpoch() / 2;
        if (i == 0) QTRY_VERIFY(QDateTime::currentSecsSinceEpoch() / 2 > step);
    }
    QCOMPARE(contents[0], contents[1]);
}

void TestNpz::damagedFilesAreErrors() {
    QFile original(dataFile("control_flow.npz"));
    QVERIFY(original.open(QIODevice::ReadOnly));
    const QByteArray bytes = original.readAll();
    QTemporaryDir folder;
    const QString path = folder.filePath("damaged.npz");
    int refused = 0;
    const auto tryIt = [&](const QByteArray& damaged) {
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(damaged);
        file.close();
        const auto npz = io::NpzFile::open(path.toStdString());
        if (!npz) {
            ++refused;
            return;
        }
        for (const std::string& key : npz->keys()) {
            if (const auto tensor = npz->read(key); !tensor) ++refused;
        }
    };
    for (int i = 0; i < 40; ++i) tryIt(bytes.left(bytes.size() * i / 40));
    QVERIFY(refused >= 40);
    std::uint32_t random = 1;
    for (int i = 0; i < 300; ++i) {
        random = random * 1664525u + 1013904223u;
        QByteArray damaged = bytes;
        const auto at = static_cast<qsizetype>(random % static_cast<std::uint32_t>(bytes.size()));
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << (random >> 29)));
        tryIt(damaged);
    }
}

/// As Python's zipfile, and with it numpy.load, has it.
void TestNpz::ofTwoEntriesOfAKeyTheLastCounts() {
    QTemporaryDir folder;
    const std::string path = folder.filePath("twice.npz").toStdString();
    const std::vector<io::NamedTensor> arrays{
        {"x", Tensor::of<float>({1}, {1})}, {"y", Tensor::of<float>({1}, {2})}, {"x", Tensor::of<float>({1}, {3})}};
    QVERIFY(io::writeNpz(path, arrays));
    const auto npz = io::NpzFile::open(path);
    QVERIFY2(npz.has_value(), npz ? "" : npz.error().text().c_str());
    QCOMPARE(npz->keys(), (std::vector<std::string>{"x", "y"}));
    QCOMPARE(npz->read("x")->toDouble(0), 3.0);
    QCOMPARE(npz->read("y")->toDouble(0), 2.0);
}

QTEST_APPLESS_MAIN(TestNpz)

}  // namespace tst_npz

#include "tst_npz.moc"
