// The grammar of load-and-run's --input. Values are those that the files and texts hold.

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include "core/io/inputs/tool_inputs.h"
#include "core/io/npz/npy.h"

namespace tst_tool_inputs {

using namespace sonde;
using io::InputInfo;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::TypeInfo;

namespace {

InputInfo input(const char* name, DType dtype, const Shape& shape) {
    const TypeInfo type = TypeInfo::tensor(dtype, shape);
    return {name, type, false, {}, type};
}

std::vector<double> numbersOf(const tensor::Value& value) {
    std::vector<double> numbers;
    for (std::int64_t i = 0; value.isTensor() && i < value.tensor().numel(); ++i)
        numbers.push_back(value.tensor().toDouble(i));
    return numbers;
}

}  // namespace

class TestToolInputs : public QObject {
    Q_OBJECT

  private slots:
    void numbersTakeTheInputsType() {
        const std::vector<InputInfo> inputs{input("data", DType::Int32, {3}), input("mask", DType::Float32, {1, 3})};
        // A row for an input of two dimensions, and numbers without brackets.
        const auto values = io::toolInputs("data:[1,2,3];mask:0.5,1,-2", inputs);
        QVERIFY2(values.has_value(), values ? "" : values.error().text().c_str());
        QCOMPARE((*values)[0].typeText(), std::string("int32[3]"));
        QCOMPARE((*values)[1].typeText(), std::string("float32[1,3]"));
        QCOMPARE(numbersOf((*values)[1]), (std::vector<double>{0.5, 1, -2}));
    }

    void aNameMayBeLeftOut() {
        const std::vector<InputInfo> two{input("x", DType::Float32, {2}), input("data", DType::Float32, {2})};
        const auto values = io::toolInputs("[1,2]", two);
        QVERIFY(values && (*values)[0].isNone());
        QCOMPARE(numbersOf((*values)[1]), (std::vector<double>{1, 2}));
        const auto one = io::toolInputs("[3,4]", {input("arg_0", DType::Float32, {2})});
        QVERIFY(one && numbersOf((*one)[0]) == (std::vector<double>{3, 4}));
        QVERIFY(!io::toolInputs("[1,2]", {two[0], input("y", DType::Float32, {2})}).has_value());
        // What is expected of outputs must be named.
        const auto model = io::toolInputs("[3,4]", {two[0]}, {}, {input("y:expect", DType::Float32, {2})});
        QVERIFY(model && model->size() == 2 && (*model)[1].isNone());
        QCOMPARE(numbersOf((*model)[0]), (std::vector<double>{3, 4}));
    }

    void namesMayHoldColons() {
        const std::vector<InputInfo> inputs{input("y", DType::Float32, {1}), input("y:expect", DType::Float32, {1})};
        const auto values = io::toolInputs("y:expect:[2];y:[1]", inputs);
        QVERIFY2(values.has_value(), values ? "" : values.error().text().c_str());
        QCOMPARE(numbersOf((*values)[0]), (std::vector<double>{1}));
        QCOMPARE(numbersOf((*values)[1]), (std::vector<double>{2}));
    }

    void aShapeAloneIsFilledWithBytesOfOne() {
        const auto values = io::toolInputs("{2,2}", {input("data", DType::Int32, {2, 2})});
        QVERIFY(values.has_value());
        QCOMPARE(numbersOf((*values)[0]), std::vector<double>(4, 0x01010101));
    }

    void arraysAreRead() {
        QVERIFY(io::writeNpyFile(path("a.npy"), Tensor::of<float>({2}, {7, 8})));
        const auto values = io::toolInputs("x:" + path("a.npy"), {input("x", DType::Float32, {2})});
        QVERIFY(values && numbersOf((*values)[0]) == (std::vector<double>{7, 8}));
    }

    void jsonHoldsAnyNumberOfInputs() {
        write("a.json", R"({"x": {"shape": [2, 2], "type": "float32", "raw": [0.5, 1, 2, 3]},
                            "n": {"shape": [2], "type": "int", "raw": [1.4, 2.6]},
                            "b": {"shape": [1], "type": "uint8", "raw": [255]}})");
        const std::vector<InputInfo> inputs{input("x", DType::Float32, {2, 2}), input("n", DType::Int32, {2}),
                                            input("b", DType::UInt8, {1})};
        const auto values = io::toolInputs(path("a.json"), inputs);
        QVERIFY2(values.has_value(), values ? "" : values.error().text().c_str());
        QCOMPARE(numbersOf((*values)[0]), (std::vector<double>{0.5, 1, 2, 3}));
        QCOMPARE(numbersOf((*values)[1]), (std::vector<double>{1, 3}));
        QCOMPARE(numbersOf((*values)[2]), (std::vector<double>{255}));
    }

    void picturesKeepTheirBytes() {
        // Two pixels wide, one high: red and blue.
        write("a.ppm", QByteArray("P6\n2 1\n255\n\xff\0\0\0\0\x64", 17));
        const auto coloured = io::toolInputs(path("a.ppm"), {input("data", DType::UInt8, {1, 1, 2, 3})});
        QVERIFY2(coloured.has_value(), coloured ? "" : coloured.error().text().c_str());
        QCOMPARE(numbersOf((*coloured)[0]), (std::vector<double>{255, 0, 0, 0, 0, 100}));
        write("a.pgm", QByteArray("P5\n2 1\n255\n\x07\xfe", 13));
        const auto grey = io::toolInputs(path("a.pgm"), {input("data", DType::UInt8, {1, 1, 2, 1})});
        QVERIFY2(grey.has_value(), grey ? "" : grey.error().text().c_str());
        QCOMPARE(numbersOf((*grey)[0]), (std::vector<double>{7, 254}));
    }

    void whatIsWrongIsAUsageError_data() {
        QTest::addColumn<QByteArray>("json");
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("says");
        QTest::newRow("no such input") << QByteArray() << "q:[1,2]"
                                       << "no input 'q'";
        QTest::newRow("twice") << QByteArray() << "x:[1,2];x:[3,4]"
                               << "given twice";
        QTest::newRow("other shape") << QByteArray() << "x:[1,2,3]"
                                     << "2 declared, 3 given";
        QTest::newRow("open bracket") << QByteArray() << "x:[1"
                                      << "'[1'";
        QTest::newRow("no object") << QByteArray("[1]") << "a.json"
                                   << "not an object";
        QTest::newRow("no JSON") << QByteArray("{") << "a.json"
                                 << "not an object";
        QTest::newRow("unknown name") << QByteArray(R"({"q": {}})") << "a.json"
                                      << "no input 'q'";
        QTest::newRow("no raw") << QByteArray(R"({"x": {"shape": [2], "type": "int"}})") << "a.json"
                                << "\"raw\"";
        QTest::newRow("unknown type") << QByteArray(R"({"x": {"shape": [2], "type": "int64", "raw": [1, 2]}})")
                                      << "a.json"
                                      << "unknown type 'int64'";
        QTest::newRow("too few") << QByteArray(R"({"x": {"shape": [2], "type": "int", "raw": [1]}})") << "a.json"
                                 << "does not hold 1 numbers";
        QTest::newRow("huge") << QByteArray(R"({"x": {"shape": [4294967296, 4294967296], "type": "int", "raw": [1]}})")
                              << "a.json"
                              << "does not hold 1 numbers";
        QTest::newRow("negative") << QByteArray(R"({"x": {"shape": [-2], "type": "int", "raw": [1, 2]}})") << "a.json"
                                  << "not a number";
        QTest::newRow("no number") << QByteArray(R"({"x": {"shape": [2], "type": "int", "raw": [1, "b"]}})") << "a.json"
                                   << "not a number";
        QTest::newRow("out of range") << QByteArray(R"({"x": {"shape": [2], "type": "uint8", "raw": [1, 256]}})")
                                      << "a.json"
                                      << "256 does not fit uint8";
    }

    void whatIsWrongIsAUsageError() {
        QFETCH(QByteArray, json);
        QFETCH(QString, text);
        QFETCH(QString, says);
        if (!json.isEmpty()) write("a.json", json);
        const std::vector<InputInfo> inputs{input("x", DType::Float32, {2}), input("y", DType::Float32, {2})};
        const auto values = io::toolInputs(json.isEmpty() ? text.toStdString() : path("a.json"), inputs);
        QVERIFY(!values.has_value());
        QCOMPARE(values.error().kind, base::ErrorKind::Usage);
        QVERIFY2(QString::fromStdString(values.error().text()).contains(says), values.error().text().c_str());
    }

  private:
    std::string path(const char* name) const { return m_folder.filePath(name).toStdString(); }
    void write(const char* name, const QByteArray& content) {
        QFile file(m_folder.filePath(name));
        QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
        file.write(content);
    }

    QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(TestToolInputs)

}  // namespace tst_tool_inputs

#include "tst_tool_inputs.moc"
