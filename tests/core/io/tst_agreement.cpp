// Values that contradict what a model declares are refused by the input's name, before a run.

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include "core/io/inputs/agreement.h"
#include "core/io/inputs/inputs.h"
#include "core/io/npz/npy.h"

namespace tst_agreement {

using namespace sonde;
using io::InputInfo;
using tensor::Dim;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::TypeInfo;
using tensor::Value;

namespace {

/// "N,3,?,224": the type of an input that declares it.
InputInfo declared(const char* name, DType dtype, const QString& dims) {
    std::vector<Dim> shape;
    for (const QString& dim : dims.split(',', Qt::SkipEmptyParts)) {
        bool isNumber = false;
        const qint64 size = dim.toLongLong(&isNumber);
        shape.push_back(isNumber ? Dim::of(size) : Dim::named(dim.toStdString()));
    }
    InputInfo input{name, TypeInfo::tensor(dtype, shape)};
    input.required = input.type;
    return input;
}

Value zeros(DType dtype, const Shape& shape) { return Value(Tensor::zeros(dtype, shape).value()); }

}  // namespace

class TestAgreement : public QObject {
    Q_OBJECT

  private slots:
    void dimensionsAreHeldAgainstTheDeclaration_data();
    void dimensionsAreHeldAgainstTheDeclaration();
    void oneSymbolIsOneSize();
    void layersRequireDimensionsOnly();
    void everySourceIsHeldAgainstTheDeclaration_data();
    void everySourceIsHeldAgainstTheDeclaration();
    void conversionsKeepValues_data();
    void conversionsKeepValues();
    void generatedInputsTakeTheSizesOfData();
    void withoutADeclarationOnlyTheRankCounts();

  private:
    std::string write(const char* name, const Tensor& tensor) {
        const std::string path = m_folder.filePath(name).toStdString();
        return io::writeNpyFile(path, tensor) ? path : std::string();
    }
    QTemporaryDir m_folder;
};

void TestAgreement::dimensionsAreHeldAgainstTheDeclaration_data() {
    QTest::addColumn<QString>("dims");
    QTest::addColumn<QList<int>>("given");
    QTest::addColumn<QString>("says");
    QTest::newRow("fits") << "N,3,224,224" << QList<int>{1, 3, 224, 224} << "";
    QTest::newRow("open batch") << "N,3,8,8" << QList<int>{7, 3, 8, 8} << "";
    QTest::newRow("empty batch") << "N,3,8,8" << QList<int>{0, 3, 8, 8} << "";
    QTest::newRow("channels")
        << "N,3,224,224" << QList<int>{1, 4, 224, 224}
        << "input 'x' expects float32[N,3,224,224], got float32[1,4,224,224] (dimension 1: 3 declared, 4 given)";
    QTest::newRow("fixed batch")
        << "1,3,8,8" << QList<int>{2, 3, 8, 8}
        << "input 'x' expects float32[1,3,8,8], got float32[2,3,8,8] (dimension 0: 1 declared, 2 given)";
    QTest::newRow("several") << "1,3,8,8" << QList<int>{2, 3, 8, 9}
                             << "(dimension 0: 1 declared, 2 given; dimension 3: 8 declared, 9 given)";
    QTest::newRow("rank") << "N,3,8,8" << QList<int>{3, 8, 8}
                          << "input 'x' expects float32[N,3,8,8], got float32[3,8,8] (rank: 4 declared, 3 given)";
    QTest::newRow("scalar") << "" << QList<int>{1}
                            << "input 'x' expects float32[], got float32[1] (rank: 0 declared, 1 given)";
    QTest::newRow("one symbol twice") << "N,N" << QList<int>{2, 3} << "(dimension 1: N is 2 in dimension 0, 3 given)";
    QTest::newRow("one symbol twice, agreeing") << "N,N" << QList<int>{3, 3} << "";
    QTest::newRow("no names") << "?,?" << QList<int>{2, 3} << "";
}

void TestAgreement::dimensionsAreHeldAgainstTheDeclaration() {
    QFETCH(QString, dims);
    QFETCH(QList<int>, given);
    QFETCH(QString, says);
    const auto error = io::contradiction(
        declared("x", DType::Float32, dims),
        TypeInfo::tensor(DType::Float32, Shape(std::vector<std::int64_t>(given.begin(), given.end()))));
    QCOMPARE(error.has_value(), !says.isEmpty());
    if (!error) return;
    QCOMPARE(error->exitStatus(), 2);
    QVERIFY2(QString::fromStdString(error->what).contains(says), error->what.c_str());
}

void TestAgreement::oneSymbolIsOneSize() {
    const std::vector<InputInfo> inputs{declared("a", DType::Float32, "N,4"), declared("b", DType::Float32, "N"),
                                        declared("c", DType::Float32, "M")};
    const std::vector<Value> agreeing{zeros(DType::Float32, {2, 4}), zeros(DType::Float32, {2}),
                                      zeros(DType::Float32, {5})};
    QVERIFY(io::contradictions(inputs, agreeing).empty());
    const std::vector<Value> others{zeros(DType::Float32, {2, 4}), zeros(DType::Float32, {3}),
                                    zeros(DType::Float32, {5})};
    const auto found = io::contradictions(inputs, others);
    QCOMPARE(found.size(), std::size_t{1});
    QCOMPARE(found[0].input, std::size_t{1});
    QCOMPARE(found[0].error.what,
             std::string("input 'b' expects float32[N], got float32[3] (dimension 0: N is 2 in input 'a', 3 given)"));
    // What is not given contradicts nothing.
    QVERIFY(io::contradictions(inputs, std::vector<Value>{Value(), others[1], Value()}).empty());
}

void TestAgreement::layersRequireDimensionsOnly() {
    InputInfo input = declared("x", DType::Float32, "?,3,?,?");
    input.isGuide = input.isRequiredByLayers = true;
    const auto error = io::contradiction(input, TypeInfo::tensor(DType::Float32, Shape{1, 4, 8, 8}));
    QVERIFY(error.has_value());
    QVERIFY2(error->what.find("(dimension 1: 3 required by its layers, 4 given)") != std::string::npos,
             error->what.c_str());
    // A layer that also takes one sample without a batch.
    QVERIFY(!io::contradiction(input, TypeInfo::tensor(DType::Float32, Shape{3, 8, 8})));
}

void TestAgreement::everySourceIsHeldAgainstTheDeclaration_data() {
    QTest::addColumn<QString>("spec");
    QTest::addColumn<bool>("fits");
    QTest::newRow("random that fits") << "#rand(0,1,2,3,1,1)" << true;
    QTest::newRow("random") << "#rand(0,1,2,4,1,1)" << false;
    QTest::newRow("random of another rank") << "#rand(0,1,3,1,1)" << false;
    QTest::newRow("text") << "[[[[1]],[[2]],[[3]]]]" << true;
    QTest::newRow("text of four channels") << "[[[[1]],[[2]],[[3]],[[4]]]]" << false;
    QTest::newRow("shape") << "{1,3,1,1}" << true;
    QTest::newRow("shape of four channels") << "{1,4,1,1}" << false;
    QTest::newRow("file") << "%three.npy" << true;
    QTest::newRow("file of four channels") << "%four.npy" << false;
    QTest::newRow("image with alpha") << "%alpha.ppm" << true;
}

void TestAgreement::everySourceIsHeldAgainstTheDeclaration() {
    QFETCH(QString, spec);
    QFETCH(bool, fits);
    write("three.npy", Tensor::of<double>({1, 3, 1, 1}, {1, 2, 3}));
    write("four.npy", Tensor::of<float>({1, 4, 1, 1}, {1, 2, 3, 4}));
    QFile picture(m_folder.filePath("alpha.ppm"));
    QVERIFY(picture.open(QIODevice::WriteOnly));
    picture.write(QByteArray("P6\n2 1\n255\n") + QByteArray("\xff\0\0\0\0\xff", 6));
    picture.close();
    const auto cases = io::makeInputs(spec.replace("%", m_folder.path() + "/").toStdString(),
                                      {declared("x", DType::Float32, "N,3,1,1")});
    QCOMPARE(cases.has_value(), fits);
    if (fits) return;
    QCOMPARE(cases.error().exitStatus(), 2);
    QVERIFY2(cases.error().what.find("input 'x' expects float32[N,3,1,1], got ") == 0, cases.error().what.c_str());
}

void TestAgreement::conversionsKeepValues_data() {
    QTest::addColumn<int>("to");
    QTest::addColumn<QList<double>>("values");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, DType to, const QList<double>& values, const char* says) {
        QTest::newRow(name) << static_cast<int>(to) << values << says;
    };
    row("rounding is what float32 is for", DType::Float32, {0.1, 1e-50}, "");
    row("but not infinity", DType::Float32, {1, 1e39}, "element 1 is");
    row("infinity stays", DType::Float32, {INFINITY, NAN}, "");
    row("float16 has a range", DType::Float16, {65504, 70000.5}, "outside of the range of float16");
    row("integers as floats", DType::Int64, {1, -2}, "");
    row("fractions", DType::Int64, {1, -1.9}, "element 1 is -1.9, not an integer");
    row("no number", DType::Int64, {NAN}, "not an integer");
    row("range", DType::Int8, {127, 128}, "element 1 is 128, outside of the range of int8");
    row("bools", DType::Bool, {0, 1}, "");
    row("no bools", DType::Bool, {0, 2}, "element 1 is 2, neither 0 nor 1");
}

void TestAgreement::conversionsKeepValues() {
    QFETCH(int, to);
    QFETCH(QList<double>, values);
    QFETCH(QString, says);
    const Tensor given = Tensor::of<double>({values.size()}, std::vector<double>(values.begin(), values.end()));
    const auto value = io::fitted(given, declared("x", static_cast<DType>(to), "N"), "file.npy");
    QVERIFY2(value.has_value() == says.isEmpty(), value ? "no error" : value.error().what.c_str());
    if (value) QCOMPARE(static_cast<int>(value->tensor().dtype()), to);
    else QVERIFY2(QString::fromStdString(value.error().what).contains(says), value.error().what.c_str());
}

void TestAgreement::generatedInputsTakeTheSizesOfData() {
    const std::vector<InputInfo> inputs{declared("mask", DType::Float32, "N,H"),
                                        declared("x", DType::Float32, "N,3,H,W")};
    const auto given = io::makeInputs("mask:#rand(0,1);x:#rand(0,1,4,3,5,6)", inputs);
    QVERIFY2(given.has_value(), given ? "" : given.error().text().c_str());
    QCOMPARE((*given)[0].values[0].tensor().typeText(), std::string("float32[4,5]"));
    const std::string file = write("x.npy", Tensor::zeros(DType::Float32, Shape{4, 3, 5, 6}).value());
    const auto sized = io::makeInputs("mask:#rand(0,1);x:" + file, inputs);
    QVERIFY2(sized.has_value(), sized ? "" : sized.error().text().c_str());
    QCOMPARE((*sized)[0].values[0].tensor().typeText(), std::string("float32[4,5]"));
    // Without data the largest usual size: H of an image is 224.
    const auto usual = io::makeInputs("", inputs);
    QVERIFY2(usual.has_value(), usual ? "" : usual.error().text().c_str());
    QCOMPARE((*usual)[0].values[0].tensor().typeText(), std::string("float32[1,224]"));
    QCOMPARE((*usual)[0].values[1].tensor().typeText(), std::string("float32[1,3,224,224]"));
}

void TestAgreement::withoutADeclarationOnlyTheRankCounts() {
    // A dump's own rule (input-data.md, "Grammar"), which whoever makes an InputInfo by hand gets.
    const InputInfo input{"x", TypeInfo::tensor(DType::Int32, Shape{1, 3})};
    QVERIFY(io::fitted(Tensor::of<double>({2, 3}, {1.9, 0, 0, 0, 0, 0}), input, "").has_value());
    QVERIFY(!io::fitted(Tensor::of<double>({3}, {1, 2, 3}), input, "").has_value());
}

QTEST_APPLESS_MAIN(TestAgreement)

}  // namespace tst_agreement

#include "tst_agreement.moc"
