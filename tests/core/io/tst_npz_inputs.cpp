// Which arrays of an archive the inputs get, and what is said where that is not decided.

#include <QTemporaryDir>
#include <QtTest>

#include "core/io/inputs/inputs.h"
#include "core/io/inputs/npz_inputs.h"
#include "core/io/npz/npz.h"

namespace tst_npz_inputs {

using namespace sonde;
using io::InputInfo;
using io::NamedTensor;
using tensor::Dim;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::TypeInfo;

namespace {

/// An input whose type the file declares.
InputInfo declared(const char* name, DType dtype, const std::vector<std::int64_t>& dims) {
    std::vector<Dim> shape;
    for (const std::int64_t dim : dims) shape.push_back(dim < 0 ? Dim::named("N") : Dim::of(dim));
    InputInfo input{name, TypeInfo::tensor(dtype, shape)};
    input.required = input.type;
    return input;
}

Tensor image(float value, std::int64_t batch = 1) {
    return Tensor::of<float>({batch, 1, 1, 2}, std::vector<float>(static_cast<std::size_t>(2 * batch), value));
}

}  // namespace

class TestNpzInputs : public QObject {
    Q_OBJECT

  private slots:
    void keysFillEveryInput_data();
    void keysFillEveryInput();
    void oneInputTakesTheOneArrayThatFits_data();
    void oneInputTakesTheOneArrayThatFits();
    void whatIsNotDecidedIsRefusedWithBothLists();
    void otherCasesAreNamed();
    void casesMatchOnTheirOwn();
    void theFirstCaseMayBeNumbered();
    void defaultsAreNotLeft();
    void explicitItemsStay();
    void aKeyIsOneArray();
    void anArchiveOfOneInputFillsTheLastOneLeft();
    void aKeyIsFoundWithAndWithoutIn();
    void notesTellConversions();
    void dtypesOfAnotherClassAreNotTaken_data();
    void dtypesOfAnotherClassAreNotTaken();
    void ofTwoArraysTheOneThatIsUsedIsTold();

  private:
    std::string write(const std::vector<NamedTensor>& arrays) {
        const std::string path = m_folder.filePath(QString::number(m_count++) + ".npz").toStdString();
        return io::writeNpz(path, arrays) ? path : std::string();
    }
    QTemporaryDir m_folder;
    int m_count = 0;
};

void TestNpzInputs::keysFillEveryInput_data() {
    QTest::addColumn<QString>("form");
    for (const char* form : {"%1", "a:%1", "b:%1", "a:%1;b:%1", "b:%1;a:%1"}) QTest::newRow(form) << form;
}

void TestNpzInputs::keysFillEveryInput() {
    QFETCH(QString, form);
    const std::string file = write({{"in.a", image(1)},
                                    {"b", image(2)},
                                    {"case1.in.a", image(3)},
                                    {"case1.in.b", image(4)},
                                    {"out.y", image(9)},
                                    {"node.a", image(8)}});
    const std::vector<InputInfo> inputs{declared("a", DType::Float32, {-1, 1, 1, 2}),
                                        declared("b", DType::Float32, {-1, 1, 1, 2})};
    for (const bool second : {false, true}) {
        const QString item = QString::fromStdString(file) + (second ? "#case1" : "");
        const auto cases = io::makeInputs(QString(form).replace("%1", item).toStdString(), inputs);
        QVERIFY2(cases.has_value(), cases ? "" : cases.error().text().c_str());
        QCOMPARE((*cases)[0].values[0].tensor().toDouble(0), second ? 3.0 : 1.0);
        QCOMPARE((*cases)[0].values[1].tensor().toDouble(0), second ? 4.0 : 2.0);
        QVERIFY((*cases)[0].notes.empty());
    }
}

void TestNpzInputs::oneInputTakesTheOneArrayThatFits_data() {
    QTest::addColumn<QStringList>("keys");
    QTest::addColumn<QString>("taken");
    QTest::newRow("in.image") << QStringList{"in.image"} << "in.image";
    QTest::newRow("one array") << QStringList{"whatever"} << "whatever";
    QTest::newRow("a reference") << QStringList{"in.image",      "out.y",          "node.conv",
                                                "node.fc.shape", "case1.in.image", "seq.in.image"}
                                 << "in.image";
    QTest::newRow("of two in. the one that fits") << QStringList{"in.image", "in.labels/int"} << "in.image";
    QTest::newRow("of two plain ones the one that fits") << QStringList{"images", "labels/int"} << "images";
    QTest::newRow("in. before plain ones") << QStringList{"weights", "in.image"} << "in.image";
    QTest::newRow("summaries are none") << QStringList{"in.image", "in.image.shape"} << "in.image";
    QTest::newRow("two that fit") << QStringList{"in.image", "in.photo"} << "";
    QTest::newRow("two plain ones that fit") << QStringList{"image", "photo"} << "";
    QTest::newRow("none that fits") << QStringList{"in.labels/int"} << "";
    QTest::newRow("in. does not fit, plain would") << QStringList{"in.labels/int", "image"} << "";
    QTest::newRow("outputs only") << QStringList{"out.y", "node.x"} << "";
}

void TestNpzInputs::oneInputTakesTheOneArrayThatFits() {
    QFETCH(QStringList, keys);
    QFETCH(QString, taken);
    std::vector<NamedTensor> arrays;
    float value = 1;
    double expected = 0;
    for (const QString& key : keys) {
        const bool isInt = key.endsWith("/int");
        const QString name = key.section('/', 0, 0);
        if (name == taken) expected = value;
        arrays.emplace_back(name.toStdString(), isInt ? Tensor::of<std::int64_t>({1}, {7}) : image(value));
        value += 1;
    }
    const std::string file = write(arrays);
    const auto cases = io::makeInputs(file, {declared("input", DType::Float32, {-1, 1, 1, 2})});
    QCOMPARE(cases.has_value(), !taken.isEmpty());
    if (!cases) {
        QCOMPARE(cases.error().exitStatus(), 2);
        QCOMPARE(cases.error().what,
                 std::string("the file has no array for input 'input' (expected key 'in.input' or 'input')"));
        return;
    }
    QCOMPARE((*cases)[0].values[0].tensor().toDouble(0), expected);
    QVERIFY(!(*cases)[0].notes.empty());
    QCOMPARE((*cases)[0].notes.front(), "array '" + taken.toStdString() + "' is used for input 'input'");
}

void TestNpzInputs::whatIsNotDecidedIsRefusedWithBothLists() {
    const std::string file =
        write({{"in.a", image(1)}, {"in.p", image(2)}, {"in.q", Tensor::of<std::int64_t>({1}, {7})}});
    const std::vector<InputInfo> inputs{declared("a", DType::Float32, {-1, 1, 1, 2}),
                                        declared("b", DType::Float32, {-1, 1, 1, 2}), declared("c", DType::Int64, {1})};
    const auto cases = io::makeInputs(file, inputs);
    QVERIFY(!cases);
    QCOMPARE(cases.error().exitStatus(), 2);
    QCOMPARE(cases.error().what, std::string("the file has no array for input 'b' (expected key 'in.b' or 'b')"));
    QCOMPARE(cases.error().where, file);
    QVERIFY2(
        cases.error().hint.starts_with(
            "inputs without an array: b float32[N,1,1,2], c int64[1]; arrays without an input: in.p float32[1,1,1,2], in.q int64[1]"),
        cases.error().hint.c_str());
    // What is given otherwise is not left over, so the rest is decided.
    const auto decided = io::makeInputs("b:" + file + "#in.p;c:[5];a:" + file, inputs);
    QVERIFY2(decided.has_value(), decided ? "" : decided.error().text().c_str());
    QCOMPARE((*decided)[0].values[1].tensor().toDouble(0), 2.0);
    // An archive that was given to an input has to have an array for it.
    const auto without = io::makeInputs("b:" + write({{"in.a", image(1)}}), {inputs[0], inputs[1]});
    QVERIFY(!without);
    QCOMPARE(without.error().what, std::string("the file has no array for input 'b' (expected key 'in.b' or 'b')"));
    // And an input for which nothing is given is told.
    const auto missing = io::makeInputs("a:" + write({{"in.a", image(1)}}), {inputs[0], inputs[1]});
    QVERIFY(!missing);
    QCOMPARE(missing.error().what, std::string("no value for input 'b'"));
    QVERIFY2(
        missing.error().hint.starts_with("inputs without an array: b float32[N,1,1,2]; arrays without an input: none"),
        missing.error().hint.c_str());
}

void TestNpzInputs::otherCasesAreNamed() {
    const std::string file = write({{"case1.in.x", image(1)}, {"case2.in.x", image(2)}});
    const auto cases = io::makeInputs(file, {declared("x", DType::Float32, {-1, 1, 1, 2})});
    QVERIFY(!cases);
    QVERIFY2(cases.error().hint.find("the file also has case1, case2: FILE.npz#case1") != std::string::npos,
             cases.error().hint.c_str());
}

void TestNpzInputs::casesMatchOnTheirOwn() {
    const std::string file = write({{"in.image", image(1)}, {"case1.in.photo", image(2, 3)}});
    const std::vector<InputInfo> inputs{declared("input", DType::Float32, {-1, 1, 1, 2})};
    QCOMPARE((*io::makeInputs(file, inputs))[0].values[0].tensor().toDouble(0), 1.0);
    const auto second = io::makeInputs(file + "#case1", inputs);
    QVERIFY2(second.has_value(), second ? "" : second.error().text().c_str());
    QCOMPARE((*second)[0].values[0].tensor().typeText(), std::string("float32[3,1,1,2]"));
    QCOMPARE((*second)[0].notes.front(), std::string("array 'case1.in.photo' is used for input 'input'"));
    const auto third = io::makeInputs(file + "#case2", inputs);
    QVERIFY(!third);
    QCOMPARE(third.error().what,
             std::string("the file has no array for input 'input' (expected key 'case2.in.input' or 'case2.input')"));
}

/// As `sonde sweep` and capture tools write them: the first case has a number too.
void TestNpzInputs::theFirstCaseMayBeNumbered() {
    const std::vector<InputInfo> inputs{declared("x", DType::Float32, {-1, 1, 1, 2})};
    const auto given = [&inputs](const std::string& item) {
        const auto cases = io::makeInputs(item, inputs);
        return cases ? cases->front().values[0].tensor().toDouble(0) : -1;
    };
    const std::string numbered = write({{"case0.in.x", image(3)}, {"case1.in.x", image(4)}});
    for (const char* item : {"", "#case0", "#x"}) QCOMPARE(given(numbered + item), item[1] == 'x' ? -1.0 : 3.0);
    QCOMPARE(given("x:" + numbered + "#case0"), 3.0);
    QCOMPARE(given(numbered + "#case1"), 4.0);
    const std::string plain = write({{"case0.x", image(5)}, {"out.y", image(6)}});
    QCOMPARE(given(plain), 5.0);
    const std::string both = write({{"in.x", image(7)}, {"case0.in.x", image(8)}});
    QCOMPARE(given(both), 7.0);
    QCOMPARE(given(both + "#case0"), 8.0);
}

void TestNpzInputs::defaultsAreNotLeft() {
    const std::string file = write({{"in.image", image(1)}, {"in.scale", image(2)}});
    io::InputOptions options;
    options.hasDefault = [](const std::string& name) { return name == "scale"; };
    const auto cases = io::makeInputs(file, {declared("input", DType::Float32, {-1, 1, 1, 2})}, options);
    QVERIFY2(cases.has_value(), cases ? "" : cases.error().text().c_str());
    QCOMPARE((*cases)[0].values[0].tensor().toDouble(0), 1.0);
    QCOMPARE((*cases)[0].notes,
             (std::vector<std::string>{"array 'in.image' is used for input 'input'",
                                       "array 'in.scale' is not used: the model has its own value for that input"}));
    // An array that names no input at all is told as well.
    const auto unknown =
        io::makeInputs(write({{"in.x", image(1)}, {"in.z", image(2)}}), {declared("x", DType::Float32, {-1, 1, 1, 2})});
    QCOMPARE((*unknown)[0].notes,
             (std::vector<std::string>{"array 'in.z' is not used: the model has no input of that name"}));
}

void TestNpzInputs::explicitItemsStay() {
    const std::string file = write({{"in.a", image(1)}, {"in.b", image(2)}});
    const std::vector<InputInfo> inputs{declared("a", DType::Float32, {-1, 1, 1, 2}),
                                        declared("b", DType::Float32, {-1, 1, 1, 2})};
    for (const std::string& spec : {"b:[[[[7,7]]]];a:" + file, "a:" + file + ";b:[[[[7,7]]]]"}) {
        const auto cases = io::makeInputs(spec, inputs);
        QVERIFY2(cases.has_value(), cases ? "" : cases.error().text().c_str());
        QCOMPARE((*cases)[0].values[0].tensor().toDouble(0), 1.0);
        QCOMPARE((*cases)[0].values[1].tensor().toDouble(0), 7.0);
    }
}

void TestNpzInputs::aKeyIsOneArray() {
    const std::string file = write({{"in.a", image(1)}, {"in.b", image(2)}, {"other", image(3)}});
    const std::vector<InputInfo> inputs{declared("a", DType::Float32, {-1, 1, 1, 2}),
                                        declared("b", DType::Float32, {-1, 1, 1, 2})};
    const auto cases = io::makeInputs("a:" + file + "#other;b:" + file, inputs);
    QVERIFY2(cases.has_value(), cases ? "" : cases.error().text().c_str());
    QCOMPARE((*cases)[0].values[0].tensor().toDouble(0), 3.0);
    QCOMPARE((*cases)[0].values[1].tensor().toDouble(0), 2.0);
    // It fills nothing else.
    QVERIFY(!io::makeInputs("a:" + file + "#other", inputs));
}

/// x:FILE is FILE for every input that nothing else is given for: the one array left goes to the one input left.
void TestNpzInputs::anArchiveOfOneInputFillsTheLastOneLeft() {
    const std::string file = write({{"in.a", image(1)}, {"in.k", image(5)}});
    const std::vector<InputInfo> inputs{declared("a", DType::Float32, {-1, 1, 1, 2}),
                                        declared("b", DType::Float32, {-1, 1, 1, 2}), declared("n", DType::Int64, {1})};
    for (const std::string& spec : {"n:[5];a:" + file, "a:" + file + ";n:[5]", "b:" + file + ";n:[5]"}) {
        const auto cases = io::makeInputs(spec, inputs);
        QVERIFY2(cases.has_value(), cases ? "" : cases.error().text().c_str());
        QCOMPARE((*cases)[0].values[1].tensor().toDouble(0), 5.0);
        QCOMPARE((*cases)[0].notes, (std::vector<std::string>{"array 'in.k' is used for input 'b'"}));
    }
    const auto open = io::makeInputs("a:" + file, inputs);
    QVERIFY(!open);
    QVERIFY2(
        open.error().hint.starts_with(
            "inputs without an array: b float32[N,1,1,2], n int64[1]; arrays without an input: in.k float32[1,1,1,2]"),
        open.error().hint.c_str());
}

void TestNpzInputs::aKeyIsFoundWithAndWithoutIn() {
    const std::string file = write({{"in.a", image(1)}, {"in.b", image(2)}, {"case1.in.a", image(2)}});
    const std::vector<InputInfo> inputs{declared("x", DType::Float32, {-1, 1, 1, 2})};
    for (const char* key : {"#b", "#in.b", "#case1.in.a"}) {
        const auto cases = io::makeInputs("x:" + file + key, inputs);
        QVERIFY2(cases.has_value(), cases ? "" : cases.error().text().c_str());
        QCOMPARE((*cases)[0].values[0].tensor().toDouble(0), 2.0);
    }
    const auto unknown = io::makeInputs("x:" + file + "#c", inputs);
    QVERIFY(!unknown);
    QCOMPARE(unknown.error().what, std::string("the file has neither a case nor an array 'c'"));
    QCOMPARE(unknown.error().hint, std::string("arrays: in.a, in.b; cases: case1"));
}

void TestNpzInputs::notesTellConversions() {
    const std::vector<InputInfo> inputs{declared("x", DType::Float32, {2})};
    const auto note = [&](const Tensor& given) {
        const auto cases = io::makeInputs(write({{"in.image", given}}), inputs);
        return cases ? (*cases)[0].notes.front() : cases.error().what;
    };
    QCOMPARE(note(Tensor::of<double>({2}, {1, 2})),
             std::string("array 'in.image' is used for input 'x', converted from float64 to float32"));
    // So are arrays that the name finds, or that were chosen by their key.
    const std::string named = write({{"in.x", Tensor::of<std::int64_t>({2}, {1, 2})}});
    for (const std::string& spec : {named, "x:" + named, "x:" + named + "#x"})
        QCOMPARE((*io::makeInputs(spec, inputs))[0].notes,
                 std::vector<std::string>{"array 'in.x' is used for input 'x', converted from int64 to float32"});
    const auto ones = Tensor::of<float>({2}, {1, 1}).cast(DType::Bool);
    QCOMPARE((*io::makeInputs(write({{"x", *ones}}), inputs))[0].notes,
             std::vector<std::string>{"array 'x' is used for input 'x', converted from bool to float32"});
    QVERIFY((*io::makeInputs(write({{"x", Tensor::of<float>({2}, {1, 2})}}), inputs))[0].notes.empty());
    // 1e39 is beyond float32
    const std::string refused = note(Tensor::of<double>({2}, {1, 1e39}));
    QVERIFY2(refused.find("element 1 is 1e+39, outside of the range of float32") != std::string::npos, refused.c_str());
}

void TestNpzInputs::dtypesOfAnotherClassAreNotTaken_data() {
    QTest::addColumn<int>("given");
    QTest::addColumn<int>("expected");
    QTest::addColumn<bool>("fits");
    const auto row = [](DType given, DType expected, bool fits) {
        QTest::addRow("%s for %s", std::string(tensor::name(given)).c_str(),
                      std::string(tensor::name(expected)).c_str())
            << static_cast<int>(given) << static_cast<int>(expected) << fits;
    };
    row(DType::Float64, DType::Float32, true);
    row(DType::Float16, DType::Float32, true);
    row(DType::Float32, DType::Float16, true);
    row(DType::Int64, DType::Int32, true);
    row(DType::UInt8, DType::Int64, true);
    row(DType::Bool, DType::Bool, true);
    row(DType::Int64, DType::Float32, false);
    row(DType::UInt8, DType::Float32, false);
    row(DType::Float32, DType::Int64, false);
    row(DType::Bool, DType::Int64, false);
    row(DType::Bool, DType::Float32, false);
    row(DType::Int64, DType::Bool, false);
}

/// Of another name, and so by its type alone: what was meant for something else is no input. By its own name it is.
void TestNpzInputs::dtypesOfAnotherClassAreNotTaken() {
    QFETCH(int, given);
    QFETCH(int, expected);
    QFETCH(bool, fits);
    const auto array = Tensor::of<float>({2}, {1, 0}).cast(static_cast<DType>(given));
    QVERIFY(array.has_value());
    const std::vector<InputInfo> inputs{declared("x", static_cast<DType>(expected), {2})};
    const auto other = io::makeInputs(write({{"in.image", *array}}), inputs);
    QCOMPARE(other.has_value(), fits);
    if (!fits)
        QVERIFY2(other.error().hint.find("arrays without an input: in.image") != std::string::npos,
                 other.error().hint.c_str());
    const auto own = io::makeInputs(write({{"in.x", *array}}), inputs);
    QVERIFY2(own.has_value(), own ? "" : own.error().text().c_str());
    QCOMPARE((*own)[0].values[0].tensor().toDouble(0), 1.0);
}

void TestNpzInputs::ofTwoArraysTheOneThatIsUsedIsTold() {
    const std::vector<InputInfo> one{declared("a", DType::Float32, {-1, 1, 1, 2})};
    const std::vector<InputInfo> two{one[0], declared("b", DType::Float32, {-1, 1, 1, 2})};
    const auto notes = [](const std::string& spec, const std::vector<InputInfo>& inputs) {
        const auto cases = io::makeInputs(spec, inputs);
        return cases && (*cases)[0].values[0].tensor().toDouble(0) == 1 ? (*cases)[0].notes
                                                                        : std::vector<std::string>{"refused"};
    };
    const std::vector<std::string> told{"array 'in.a' is used for input 'a', not 'a', which has different values"};
    const std::string file = write({{"in.a", image(1)}, {"a", image(2)}, {"b", image(3)}});
    for (const std::string& spec : {file, "a:" + file, "b:" + file}) QCOMPARE(notes(spec, two), told);
    QCOMPARE(notes(file, one), told);
    QCOMPARE(notes("a:" + file, one), told);
    // The same twice is no question.
    QCOMPARE(notes(write({{"in.a", image(1)}, {"a", image(1)}}), one), std::vector<std::string>());
    const std::string second = write({{"case1.in.a", image(1)}, {"case1.a", image(2)}});
    QCOMPARE(notes(second + "#case1", one),
             (std::vector<std::string>{
                 "array 'case1.in.a' is used for input 'a', not 'case1.a', which has different values"}));
}

QTEST_APPLESS_MAIN(TestNpzInputs)

}  // namespace tst_npz_inputs

#include "tst_npz_inputs.moc"
