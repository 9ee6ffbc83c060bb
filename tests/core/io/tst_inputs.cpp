// The grammar of input specifications: input-data.md, "Grammar" and input-data.md, "Images".

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <set>

#include "core/io/inputs/inputs.h"
#include "core/io/inputs/named_files.h"
#include "core/io/npz/npy.h"
#include "core/io/npz/npz.h"

namespace tst_inputs {

using namespace sonde;
using io::InputInfo;
using tensor::Dim;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::TypeInfo;

namespace {

InputInfo input(const char* name, DType dtype, const Shape& shape) { return {name, TypeInfo::tensor(dtype, shape)}; }

/// A 2x1 picture, red and blue, as PPM.
QByteArray redAndBlue() { return QByteArray("P6\n2 1\n255\n") + QByteArray("\xff\0\0\0\0\xff", 6); }

}  // namespace

class TestInputs : public QObject {
    Q_OBJECT

  private slots:
    void randomShapes_data();
    void randomShapes();
    void badRandoms_data();
    void badRandoms();
    void randomsAreInTheIntervalAndRepeatable();
    void integersAreTruncated();
    void randomsAreNumbersOfTheDtype_data();
    void randomsAreNumbersOfTheDtype();
    void masksHideNothing();
    void randomsBeyondTheDtypeAreRefused_data();
    void randomsBeyondTheDtypeAreRefused();
    void randomParametersAreNumbersToo();
    void oneRandomIsForAllInputs();
    void itemsGoByName();
    void namesMayHoldColons();
    void wrongItemsAreUsageErrors_data();
    void wrongItemsAreUsageErrors();
    void listsHaveACaseALine();
    void npzGivesEveryInput();
    void npzGivesOneOfSeveralInputs();
    void ranksMustAgree();
    void dataIsCastAndRepeated();
    void picturesAreBlueFirst();
    void picturesFitTheInput_data();
    void picturesFitTheInput();
    void presetsNormalise();
    void conversionsBeyondTheDtypeAreRefused_data();
    void conversionsBeyondTheDtypeAreRefused();
    void openDimSizesHaveUsualSizes();
    void partsOfAShapeDecideForOthers_data();
    void partsOfAShapeDecideForOthers();
    void filesAreNamed_data();
    void filesAreNamed();

  private:
    std::string path(const char* name) const { return m_folder.filePath(name).toStdString(); }
    std::string write(const char* name, const QByteArray& bytes) const {
        QFile file(m_folder.filePath(name));
        if (file.open(QIODevice::WriteOnly)) file.write(bytes);
        return path(name);
    }
    std::string writeArray(const char* name, const Tensor& tensor) const {
        return io::writeNpyFile(path(name), tensor) ? path(name) : std::string();
    }

    QTemporaryDir m_folder;
};

void TestInputs::randomShapes_data() {
    QTest::addColumn<QString>("spec");
    QTest::addColumn<QString>("shape");
    const auto row = [](const char* spec, const char* shape) {
        QTest::newRow(spec) << QString(spec) << QString(shape);
    };
    row("#rand(0,255)", "[2,3,4,5]");
    row("#rand(0,255,1,3,224,224)", "[1,3,224,224]");
    row("#rand(0, 255, 1, ...)", "[1,3,4,5]");
    row("#rand(0,255,...)", "[2,3,4,5]");
    row("#rand(0,255,1,2,3,4,...)", "[1,2,3,4]");
    row("#rand(-1.5,2)", "[2,3,4,5]");
    row("#rand(0 ,1 )", "[2,3,4,5]");
    row("#zeros", "[2,3,4,5]");
    row("#zeros(1,3,224,224)", "[1,3,224,224]");
    row("#zeros( 1 ,...)", "[1,3,4,5]");
}

void TestInputs::randomShapes() {
    QFETCH(QString, spec);
    QFETCH(QString, shape);
    const auto cases = io::makeInputs(spec.toStdString(), {input("x", DType::Float32, {2, 3, 4, 5})});
    QVERIFY2(cases.has_value(), cases ? "" : cases.error().text().c_str());
    QCOMPARE(QString::fromStdString((*cases)[0].values[0].tensor().shape().text()), shape);
}

void TestInputs::badRandoms_data() {
    QTest::addColumn<QString>("spec");
    for (const char* spec : {"#rand(0,255,)",
                             "#rand(,255)",
                             "#rand(1e-3,2)",
                             "#rand( 0,1)",
                             "#rand(0,1,1,...,5)",
                             "#rand(0,255,1.5)",
                             "#rand(0,1,1,2,3,4,5,...)",
                             "#rand(0,1",
                             "#rand(5,1)",
                             "#rand()",
                             "#rand(0)",
                             "#rand(0,1,-3)",
                             "#random(0,1)",
                             "#zeros()",
                             "#zeros(1,-3)",
                             "#zeros(1,2,3,4",
                             "#zeros(0.5)",
                             "#zeros(1,2)",
                             "#zero",
                             "#rand(0,1,1000000000,1000000000,1000,1000)"}) {
        QTest::newRow(spec) << QString(spec);
    }
}

void TestInputs::badRandoms() {
    QFETCH(QString, spec);
    const auto cases = io::makeInputs(spec.toStdString(), {input("x", DType::Float32, {2, 3, 4, 5})});
    QVERIFY(!cases);
    QCOMPARE(cases.error().exitStatus(), 2);
}

void TestInputs::randomsAreInTheIntervalAndRepeatable() {
    const std::vector<InputInfo> inputs{input("x", DType::Float32, {1000})};
    const auto first = io::makeInputs("#rand(-2,3)", inputs, {.seed = 5});
    const auto second = io::makeInputs("#rand(-2,3)", inputs, {.seed = 5});
    const auto other = io::makeInputs("#rand(-2,3)", inputs, {.seed = 6});
    QVERIFY(first && second && other);
    const Tensor& values = (*first)[0].values[0].tensor();
    double sum = 0;
    for (int i = 0; i < 1000; ++i) {
        QVERIFY(values.toDouble(i) >= -2 && values.toDouble(i) < 3);
        sum += values.toDouble(i);
    }
    QVERIFY(std::abs(sum / 1000 - 0.5) < 0.2);  // deviation of the mean: 5 / sqrt(12 * 1000) = 0.046
    QVERIFY(tensor::identical(values, (*second)[0].values[0].tensor()));
    QVERIFY(!tensor::identical(values, (*other)[0].values[0].tensor()));
}

void TestInputs::integersAreTruncated() {
    const auto cases = io::makeInputs("#rand(0,3)", {input("x", DType::Int64, {300})});
    QVERIFY(cases.has_value());
    std::set<std::int64_t> seen;
    for (int i = 0; i < 300; ++i) seen.insert((*cases)[0].values[0].tensor().toInt64(i));
    QCOMPARE(seen, (std::set<std::int64_t>{0, 1, 2}));
}

void TestInputs::randomsAreNumbersOfTheDtype_data() {
    QTest::addColumn<int>("dtype");
    QTest::addColumn<QString>("spec");
    QTest::addColumn<QList<double>>("all");  ///< every number that may come, or the lowest and the highest
    const auto row = [](DType dtype, const char* spec, const QList<double>& all) {
        QTest::addRow("%s %s", std::string(tensor::name(dtype)).c_str(), spec)
            << static_cast<int>(dtype) << spec << all;
    };
    row(DType::UInt8, "#rand(253,256)", {253, 254, 255});
    row(DType::Int8, "#rand(-128,-126)", {-128, -127});
    row(DType::Int64, "#rand(-3,-1)", {-3, -2});  // never max, which -1.5 would be truncated to
    row(DType::Int64, "#rand(0.5,3)", {1, 2});
    row(DType::Int64, "#rand(-0.5,0.5)", {0});
    row(DType::Int64, "#rand(-9223372036854775808,-9223372036854775808)", {-9223372036854775808.0});
    row(DType::Int4, "#rand(-8,8)", {-7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7});
    row(DType::UInt2, "#rand(0,4)", {0, 1, 2, 3});
    row(DType::Bool, "#rand(0,1)", {0, 1});
    row(DType::Bool, "#rand(0,2)", {0, 1});
    row(DType::Bool, "#rand(0,0)", {0});
    row(DType::Bool, "#rand(1,1)", {1});
    row(DType::Float8E4M3FN, "#rand(1,1.4)", {1, 1.125, 1.25, 1.375});  // 3 bits of mantissa
    row(DType::Float8E4M3FN, "#rand(1.1,1.3)", {1.125, 1.25});
    row(DType::Float16, "#rand(2048,2053)", {2048, 2050, 2052});  // 10 bits of mantissa
    row(DType::Float16, "#rand(2049,2052)", {2050});
    row(DType::BFloat16, "#rand(256,260)", {256, 258});  // 7 bits of mantissa
}

void TestInputs::randomsAreNumbersOfTheDtype() {
    QFETCH(int, dtype);
    QFETCH(QString, spec);
    QFETCH(QList<double>, all);
    const auto cases = io::makeInputs(spec.toStdString(), {input("x", static_cast<DType>(dtype), {2000})});
    QVERIFY2(cases.has_value(), cases ? "" : cases.error().text().c_str());
    const Tensor& values = (*cases)[0].values[0].tensor();
    std::set<double> seen;
    for (int i = 0; i < 2000; ++i) seen.insert(values.toDouble(i));
    // An end that only the smallest draw of all reaches may be missing.
    const bool isRare = all.size() > 1 && all.front() < 0 && !seen.contains(all.front());
    QCOMPARE(seen, std::set<double>(all.begin() + (isRare ? 1 : 0), all.end()));
}

void TestInputs::masksHideNothing() {
    const std::vector<InputInfo> inputs{input("attention_mask", DType::Int64, {1, 5}), input("ids", DType::Int64, {5}),
                                        input("mask", DType::Float32, {2}), input("mask", DType::Int64, {})};
    QCOMPARE(io::defaultItem(inputs[0]), std::string("#rand(1,1)"));
    QCOMPARE(io::defaultItem(inputs[1]), std::string("#rand(0,1)"));
    QCOMPARE(io::defaultItem(inputs[2]), std::string("#rand(0,1)"));
    QCOMPARE(io::defaultItem(inputs[3]), std::string("0"));
    const auto cases = io::makeInputs("ids:#zeros;attention_mask:#rand(1,1)", {inputs[0], inputs[1]});
    QVERIFY(cases.has_value());
    for (int i = 0; i < 5; ++i) QCOMPARE((*cases)[0].values[0].tensor().toInt64(i), std::int64_t{1});
}

void TestInputs::randomsBeyondTheDtypeAreRefused_data() {
    QTest::addColumn<int>("dtype");
    QTest::addColumn<QString>("spec");
    QTest::addColumn<QString>("says");
    const auto row = [](DType dtype, const char* spec, const char* says) {
        QTest::addRow("%s %s", std::string(tensor::name(dtype)).c_str(), spec)
            << static_cast<int>(dtype) << spec << says;
    };
    row(DType::Int8, "#rand(0,1000)",
        "input 'x' expects int8[4], got #rand(0,1000) (999 is outside of the range of int8)");
    row(DType::UInt8, "#rand(-5,5)",
        "input 'x' expects uint8[4], got #rand(-5,5) (-5 is outside of the range of uint8)");
    row(DType::UInt8, "#rand(0,257)", "256 is outside of the range of uint8");
    row(DType::Int4, "#rand(0,9)", "8 is outside of the range of int4");
    row(DType::Bool, "#rand(0,255)", "254 is outside of the range of bool");
    row(DType::Bool, "#rand(-1,1)", "-1 is outside of the range of bool");
    row(DType::Int64, "#rand(0,99999999999999999999)", "is outside of the range of int64");
    row(DType::Float16, "#rand(0,70000)", "70000 is outside of the range of float16");
    row(DType::Float8E4M3FN, "#rand(-500,0)", "-500 is outside of the range of float8_e4m3fn");
    row(DType::Float32, "#rand(0,999999999999999999999999999999999999999)", "is outside of the range of float32");
    row(DType::Int32, "#rand(0.2,0.8)", "no int32 is in this interval");
    row(DType::Float16, "#rand(2049,2049.5)", "no float16 is in this interval");
}

void TestInputs::randomsBeyondTheDtypeAreRefused() {
    QFETCH(int, dtype);
    QFETCH(QString, spec);
    QFETCH(QString, says);
    const auto cases = io::makeInputs(spec.toStdString(), {input("x", static_cast<DType>(dtype), {4})});
    QVERIFY(!cases);
    QCOMPARE(cases.error().exitStatus(), 2);
    QVERIFY2(QString::fromStdString(cases.error().text()).contains(says), cases.error().text().c_str());
}

/// A forward's int and bool parameters.
void TestInputs::randomParametersAreNumbersToo() {
    const auto given = [](tensor::ValueKind kind, const char* spec, std::uint64_t seed) {
        TypeInfo type;
        type.kind = kind;
        const auto cases = io::makeInputs(spec, {{"x", type}}, {.seed = seed});
        return cases ? (*cases)[0].values[0].text() : cases.error().what;
    };
    std::set<std::string> integers, bools;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        integers.insert(given(tensor::ValueKind::Int, "#rand(-3,-1)", seed));
        bools.insert(given(tensor::ValueKind::Bool, "#rand(0,1)", seed));
    }
    QCOMPARE(integers, (std::set<std::string>{"-2"}));
    QCOMPARE(bools, (std::set<std::string>{"False", "True"}));
}

void TestInputs::oneRandomIsForAllInputs() {
    const auto cases =
        io::makeInputs("#rand(0,1)", {input("a", DType::Float32, {3}), input("b", DType::Float32, {2, 2})});
    QVERIFY(cases.has_value());
    QCOMPARE((*cases)[0].values.size(), std::size_t{2});
    QCOMPARE((*cases)[0].values[1].tensor().shape(), (Shape{2, 2}));
    QVERIFY((*cases)[0].values[0].tensor().toDouble(0) != (*cases)[0].values[1].tensor().toDouble(0));
}

void TestInputs::itemsGoByName() {
    const std::string a = writeArray("a.npy", Tensor::of<float>({2}, {1, 2}));
    const auto cases =
        io::makeInputs("mask:#rand(0,1);x:" + a, {input("x", DType::Float32, {2}), input("mask", DType::Float32, {3})});
    QVERIFY2(cases.has_value(), cases ? "" : cases.error().text().c_str());
    QCOMPARE((*cases)[0].values[0].tensor().toDouble(1), 2.0);
    QCOMPARE((*cases)[0].values[1].tensor().shape(), (Shape{3}));
    // With one input the name may be left out.
    const auto unnamed = io::makeInputs(a, {input("x", DType::Float32, {2})});
    QVERIFY(unnamed.has_value());
}

void TestInputs::namesMayHoldColons() {
    const std::string a = writeArray("b.npy", Tensor::of<float>({1}, {7}));
    const auto cases = io::makeInputs("x:0:" + a, {input("x:0", DType::Float32, {1})});
    QVERIFY2(cases.has_value(), cases ? "" : cases.error().text().c_str());
    QCOMPARE((*cases)[0].values[0].tensor().toDouble(0), 7.0);
}

void TestInputs::wrongItemsAreUsageErrors_data() {
    QTest::addColumn<QString>("spec");
    QTest::addColumn<QString>("says");
    QTest::newRow("too few") << "a:#rand(0,1)"
                             << "input 'b'";
    QTest::newRow("unknown name") << "c:#rand(0,1);a:#rand(0,1)"
                                  << "'c:#rand(0,1)'";
    QTest::newRow("twice") << "a:#rand(0,1);a:#rand(0,1)"
                           << "twice";
    QTest::newRow("no list") << "@nothing.txt"
                             << "list";
}

void TestInputs::wrongItemsAreUsageErrors() {
    QFETCH(QString, spec);
    QFETCH(QString, says);
    const auto cases =
        io::makeInputs(spec.toStdString(), {input("a", DType::Float32, {1}), input("b", DType::Float32, {1})});
    QVERIFY(!cases);
    QCOMPARE(cases.error().exitStatus(), 2);
    QVERIFY2(QString::fromStdString(cases.error().text()).contains(says), cases.error().text().c_str());
}

void TestInputs::listsHaveACaseALine() {
    const std::string list = write("list.txt", "#rand(0,1)\n\n#rand(2,3)  \n");
    const auto cases = io::makeInputs("@" + list, {input("x", DType::Float32, {4})});
    QVERIFY2(cases.has_value(), cases ? "" : cases.error().text().c_str());
    QCOMPARE(cases->size(), std::size_t{2});
    QVERIFY((*cases)[0].values[0].tensor().toDouble(0) < 1);
    QVERIFY((*cases)[1].values[0].tensor().toDouble(0) >= 2);
    const auto broken =
        io::makeInputs("@" + write("bad.txt", "#rand(0,1)\n#rand(x)\n"), {input("x", DType::Float32, {4})});
    QVERIFY(!broken);
    QVERIFY(QString::fromStdString(broken.error().text()).contains("line 2"));
}

void TestInputs::npzGivesEveryInput() {
    const std::string file = SONDE_TEST_DATA "/models/lstm_classifier.npz";
    const std::vector<InputInfo> inputs{
        {"tokens", TypeInfo::tensor(DType::Int64, std::vector<Dim>{Dim::named("N"), Dim::named("T")})}};
    const auto first = io::makeInputs(file, inputs);
    QVERIFY2(first.has_value(), first ? "" : first.error().text().c_str());
    QCOMPARE((*first)[0].values[0].tensor().typeText(), std::string("int64[2,15]"));
    const auto second = io::makeInputs(file + "#case1", inputs);
    QVERIFY(second.has_value());
    QCOMPARE((*second)[0].values[0].tensor().typeText(), std::string("int64[4,9]"));
    QVERIFY(!io::makeInputs(file + "#case7", inputs));
    QVERIFY(
        io::writeNpz(path("plain.npz"), std::vector<io::NamedTensor>{{"tokens", Tensor::of<std::int64_t>({1, 1}, {3})}})
            .has_value());
    QVERIFY(io::makeInputs(path("plain.npz"), inputs).has_value());
}

void TestInputs::npzGivesOneOfSeveralInputs() {
    const std::vector<io::NamedTensor> arrays{{"in.a", Tensor::of<float>({1}, {1})},
                                              {"b", Tensor::of<float>({1}, {2})},
                                              {"case1.in.a", Tensor::of<float>({1}, {3})}};
    QVERIFY(io::writeNpz(path("several.npz"), arrays).has_value());
    QVERIFY(io::writeNpz(path("single.npz"), std::vector<io::NamedTensor>{{"whatever", Tensor::of<float>({1}, {4})}})
                .has_value());
    const std::vector<InputInfo> inputs{input("a", DType::Float32, {1}), input("b", DType::Float32, {1})};
    const auto given = [&](const std::string& spec) -> std::vector<float> {
        const auto cases = io::makeInputs(spec, inputs);
        if (!cases) return {};
        return {static_cast<float>((*cases)[0].values[0].tensor().toDouble(0)),
                static_cast<float>((*cases)[0].values[1].tensor().toDouble(0))};
    };
    const std::string several = path("several.npz"), single = path("single.npz");
    QCOMPARE(given("a:" + several + ";b:" + several), (std::vector<float>{1, 2}));
    QCOMPARE(given("a:" + several + "#b;b:" + several + "#in.a"), (std::vector<float>{2, 1}));
    QCOMPARE(given("a:" + several + "#case1;b:" + single), (std::vector<float>{3, 4}));
    // What is meant for all inputs is found by their names alone.
    QCOMPARE(given(several), (std::vector<float>{1, 2}));
    QVERIFY(given(single).empty());
    QVERIFY(given(several + "#b").empty());
    QVERIFY(given("a:" + several + "#c;b:" + several).empty());
}

void TestInputs::ranksMustAgree() {
    const std::string a = writeArray("c.npy", Tensor::of<float>({2}, {1, 2}));
    const auto cases = io::makeInputs(a, {input("x", DType::Float32, {1, 2})});
    QVERIFY(!cases);
    QVERIFY(QString::fromStdString(cases.error().what).startsWith("input/data shapes mismatch"));
    // Another batch is silent.
    QVERIFY(io::makeInputs(a, {input("x", DType::Float32, {1})}).has_value());
}

void TestInputs::dataIsCastAndRepeated() {
    const std::string a = writeArray("d.npy", Tensor::of<double>({2, 1}, {1.9, -1.9}));
    const auto cases = io::makeInputs(a, {input("x", DType::Int32, {2, 1})}, {.repeat = 3});
    QVERIFY2(cases.has_value(), cases ? "" : cases.error().text().c_str());
    const Tensor& values = (*cases)[0].values[0].tensor();
    QCOMPARE(values.typeText(), std::string("int32[6,1]"));
    const std::int64_t expected[] = {1, 1, 1, -1, -1, -1};
    for (int i = 0; i < 6; ++i) QCOMPARE(values.toInt64(i), expected[i]);
    const auto random = io::makeInputs("#rand(0,1)", {input("x", DType::Float32, {1, 2})}, {.repeat = 3});
    QCOMPARE((*random)[0].values[0].tensor().shape(), (Shape{1, 2}));
}

void TestInputs::picturesAreBlueFirst() {
    const std::string picture = write("two.ppm", redAndBlue());
    const auto cases = io::makeInputs(picture, {input("x", DType::Float32, {1, 3, 1, 2})});
    QVERIFY2(cases.has_value(), cases ? "" : cases.error().text().c_str());
    // Planes blue, green, red of the pixels red, blue.
    const double expected[] = {0, 255, 0, 0, 255, 0};
    for (int i = 0; i < 6; ++i) QCOMPARE((*cases)[0].values[0].tensor().toDouble(i), expected[i]);
    const auto grey = io::makeInputs(picture, {input("x", DType::UInt8, {1, 1, 1, 2})});
    QVERIFY(grey.has_value());
    QCOMPARE((*grey)[0].values[0].tensor().toDouble(0), 76.0);  // 0.299 * 255 = 76.2
    QCOMPARE((*grey)[0].values[0].tensor().toDouble(1), 29.0);  // 0.114 * 255 = 29.1
}

void TestInputs::picturesFitTheInput_data() {
    QTest::addColumn<QList<int>>("dims");
    QTest::addColumn<QString>("shape");
    QTest::newRow("NCHW") << QList<int>{1, 3, 5, 8} << "[1,3,5,8]";
    QTest::newRow("grey NHWC") << QList<int>{1, 5, 8, 1} << "[1,5,8,1]";
    QTest::newRow("no batch") << QList<int>{3, 5, 8} << "[3,5,8]";
    QTest::newRow("open size follows the picture") << QList<int>{-1, 3, -1, -1} << "[1,3,300,451]";
    QTest::newRow("no picture") << QList<int>{1, 5, 5, 5} << "";
}

void TestInputs::picturesFitTheInput() {
    QFETCH(QList<int>, dims);
    QFETCH(QString, shape);
    std::vector<Dim> type;
    for (int dim : dims) type.push_back(dim < 0 ? Dim{} : Dim::of(dim));
    const auto cases = io::makeInputs(SONDE_SOURCE_DIR "/resources/samples/chelsea.png",
                                      {{"x", TypeInfo::tensor(DType::Float32, type)}});
    QCOMPARE(cases.has_value(), !shape.isEmpty());
    if (cases) QCOMPARE(QString::fromStdString((*cases)[0].values[0].tensor().shape().text()), shape);
}

void TestInputs::presetsNormalise() {
    const std::string picture = write("one.ppm", QByteArray("P6\n1 1\n255\n") + QByteArray("\xff\0\0", 3));
    const InputInfo x = input("x", DType::Float32, {1, 3, 1, 1});
    const auto imagenet = io::makeInputs(picture, {x}, {.image = io::findImagePreset("imagenet")->options});
    QVERIFY(imagenet.has_value());
    // (1 - 0.485) / 0.229, (0 - 0.456) / 0.224, (0 - 0.406) / 0.225
    const double expected[] = {2.2489083, -2.0357143, -1.8044444};
    for (int i = 0; i < 3; ++i) QVERIFY(std::abs((*imagenet)[0].values[0].tensor().toDouble(i) - expected[i]) < 1e-6);
    const auto balanced = io::makeInputs(picture, {x}, {.image = io::findImagePreset("signed")->options});
    QCOMPARE((*balanced)[0].values[0].tensor().toDouble(0), -1.0);
    QCOMPARE((*balanced)[0].values[0].tensor().toDouble(2), 1.0);
}

void TestInputs::conversionsBeyondTheDtypeAreRefused_data() {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<int>("dtype");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* preset, DType dtype, const char* says) {
        QTest::addRow("%s %s", preset, std::string(tensor::name(dtype)).c_str())
            << preset << static_cast<int>(dtype) << says;
    };
    // The pixel is red, of 200: 200 / 255 = 0.784314, (0 / 255 - 0.456) / 0.224 = -2.03571, 0 / 127.5 - 1 = -1.
    row("bgr", DType::UInt8, "");
    row("rgb", DType::Int16, "");
    row("imagenet", DType::Float16, "");
    row("rgb", DType::Int8, "gives 200, outside of the range of int8, but the input is int8[1,3,1,1]");
    row("unit", DType::UInt8, "gives 0.784314, not an integer, but the input is uint8[1,3,1,1]");
    row("unit", DType::Bool, "gives 0.784314, neither 0 nor 1");
    row("imagenet", DType::UInt8, "not an integer");
    row("imagenet", DType::Int64, "not an integer");
    row("signed", DType::UInt8, "gives -1, outside of the range of uint8");
}

void TestInputs::conversionsBeyondTheDtypeAreRefused() {
    QFETCH(QString, preset);
    QFETCH(int, dtype);
    QFETCH(QString, says);
    const std::string picture = write("red.ppm", QByteArray("P6\n1 1\n255\n") + QByteArray("\xc8\0\0", 3));
    const auto cases = io::makeInputs(picture, {input("x", static_cast<DType>(dtype), {1, 3, 1, 1})},
                                      {.image = io::findImagePreset(preset.toStdString())->options});
    QCOMPARE(cases.has_value(), says.isEmpty());
    if (cases) return;
    const QString text = QString::fromStdString(cases.error().text());
    QCOMPARE(cases.error().exitStatus(), 2);
    QVERIFY2(text.contains(says) && text.contains("input 'x'") && text.contains("red.ppm"), qPrintable(text));
}

void TestInputs::openDimSizesHaveUsualSizes() {
    QCOMPARE(
        io::usualShape(TypeInfo::tensor(DType::Float32, std::vector<Dim>{Dim::named("N"), Dim::of(3), Dim{}, Dim{}})),
        (Shape{1, 3, 224, 224}));
    QCOMPARE(io::usualShape(TypeInfo::tensor(DType::Int64, std::vector<Dim>{Dim::named("N"), Dim::named("T")})),
             (Shape{1, 1}));
    // Of what is read channel by channel only the last one that is read is known.
    tensor::DimSizeHints channels(4);
    channels[1].least = 3;
    const std::vector<Dim> open(4);
    QCOMPARE(io::usualShape(TypeInfo::tensor(DType::Float32, open), channels), (Shape{1, 3, 224, 224}));
    channels[1].least = 5;
    QCOMPARE(io::usualShape(TypeInfo::tensor(DType::Float32, open), channels), (Shape{1, 5, 1, 1}));
}

void TestInputs::partsOfAShapeDecideForOthers_data() {
    QTest::addColumn<QString>("spec");
    QTest::newRow("dimensions in front") << "x:#rand(0,1,2,...);ids:#zeros;mask:#rand(0,1)";
    QTest::newRow("all of them") << "x:#rand(0,1,2,3);ids:#zeros;mask:#rand(0,1)";
    QTest::newRow("none of them first") << "ids:#zeros;mask:#rand(0,1,...);x:#rand(0,1,2,...)";
    QTest::newRow("numbers") << "x:{2,3};ids:#zeros;mask:#rand(0,1,...)";
    QTest::newRow("from another input") << "x:#zeros;ids:#rand(0,1,2,...);mask:#zeros";
}

/// x [N,3], ids [N], mask [N,T]: a batch of two in whichever input it is written.
void TestInputs::partsOfAShapeDecideForOthers() {
    QFETCH(QString, spec);
    const auto typed = [](const char* name, DType dtype, std::vector<Dim> dims) {
        InputInfo info{name, TypeInfo::tensor(dtype, std::move(dims))};
        info.required = info.type;
        return info;
    };
    const std::vector<InputInfo> inputs{typed("x", DType::Float32, {Dim::named("N"), Dim::of(3)}),
                                        typed("ids", DType::Int64, {Dim::named("N")}),
                                        typed("mask", DType::Float32, {Dim::named("N"), Dim::named("T")})};
    const auto cases = io::makeInputs(spec.toStdString(), inputs);
    QVERIFY2(cases.has_value(), cases ? "" : cases.error().text().c_str());
    const auto& values = cases->front().values;
    QCOMPARE(values[0].tensor().shape(), (Shape{2, 3}));
    QCOMPARE(values[1].tensor().shape(), (Shape{2}));
    QCOMPARE(values[2].tensor().shape(), (Shape{2, 1}));
}

void TestInputs::filesAreNamed_data() {
    QTest::addColumn<QString>("spec");
    QTest::addColumn<QStringList>("files");
    QTest::newRow("alone") << "a.png" << QStringList{"a.png"};
    QTest::newRow("by inputs") << "x:a.npy;y:[1,2];z:#rand(0,1)" << QStringList{"a.npy"};
    QTest::newRow("a key") << "x:b.npz#k;c.npz#out.y" << QStringList{"b.npz", "c.npz"};
    QTest::newRow("names with colons") << "in:0:a.npy;d:e.npy" << QStringList{"a.npy", "d:e.npy", "e.npy"};
    QTest::newRow("a number sign in a name") << "x:a#b.npy" << QStringList{"a#b.npy"};
    QTest::newRow("numbers alone") << "x:[1,2]" << QStringList{};
    QTest::newRow("nothing") << "" << QStringList{};
    QTest::newRow("a list that is not there") << "@none.txt" << QStringList{"none.txt"};
}

void TestInputs::filesAreNamed() {
    QFETCH(QString, spec);
    QFETCH(QStringList, files);
    const auto named = io::filesNamedIn(spec.toStdString());
    for (const QString& file : files)
        QVERIFY2(std::ranges::find(named, std::filesystem::path(file.toStdString())) != named.end(), qPrintable(file));
    if (files.isEmpty() && spec.isEmpty()) QVERIFY(named.empty());
    // Also what a list has in its lines, and the list.
    const std::string list = write("named.txt", spec.toUtf8() + "\r\n");
    const auto listed = io::filesNamedIn("@" + list);
    QVERIFY(std::ranges::find(listed, std::filesystem::path(list)) != listed.end());
    if (spec.startsWith(u'@')) return;
    for (const std::filesystem::path& path : named)
        QVERIFY2(std::ranges::find(listed, path) != listed.end(), path.c_str());
}

QTEST_APPLESS_MAIN(TestInputs)

}  // namespace tst_inputs

#include "tst_inputs.moc"
