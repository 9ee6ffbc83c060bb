// Numbers as text in --input-data (input-data.md, "Numbers as text"), and what PyTorch and numpy make of the same
// lists.

#include <QtTest>

#include <cmath>

#include "core/io/inputs/agreement.h"
#include "core/io/inputs/inputs.h"
#include "core/io/inputs/literal.h"

namespace tst_literal {

using namespace sonde;
using io::InputInfo;
using tensor::Dim;
using tensor::DType;
using tensor::Shape;
using tensor::TypeInfo;
using tensor::Value;
using tensor::ValueKind;

namespace {

TypeInfo plain(ValueKind kind, std::vector<TypeInfo> elements = {}) {
    TypeInfo type;
    type.kind = kind;
    type.elements = std::move(elements);
    return type;
}

/// An input that declares its type.
InputInfo declared(const TypeInfo& type) {
    InputInfo input{"x", type};
    input.required = type;
    return input;
}

std::vector<double> numbers(const Value& value) {
    std::vector<double> result;
    for (std::int64_t i = 0; i < value.tensor().numel(); ++i) result.push_back(value.tensor().toDouble(i));
    return result;
}

const TypeInfo kUnknown;

}  // namespace

class TestLiteral : public QObject {
    Q_OBJECT

  private slots:
    void textBecomesATensor_data();
    void textBecomesATensor();
    void wrongTextIsAUsageError_data();
    void wrongTextIsAUsageError();
    void namesOfFilesAreNoNumbers_data();
    void namesOfFilesAreNoNumbers();
    void shapesAloneAreFilledWithOnes();
    void elementsTakeTheInputsType_data();
    void elementsTakeTheInputsType();
    void integersAreExact_data();
    void integersAreExact();
    void ownTypesHoldTheNumbers_data();
    void ownTypesHoldTheNumbers();
    void arraysAreComparedExactly();
    void oneNumberFitsOneElement();
    void argumentsThatAreNoTensors();
    void boolsAndNone();
    void itemsMayBeNumbers();
    void defaultsAreItemsOfTheGrammar();
};

void TestLiteral::textBecomesATensor_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("type");
    QTest::addColumn<QList<double>>("values");
    // b4: any '.' makes float32, else int32
    QTest::newRow("scalar") << "16000"
                            << "int32[]" << QList<double>{16000};
    QTest::newRow("negative") << "-3"
                              << "int32[]" << QList<double>{-3};
    QTest::newRow("plus") << "+3"
                          << "int32[]" << QList<double>{3};
    QTest::newRow("real") << "-0.5"
                          << "float32[]" << QList<double>{-0.5};
    QTest::newRow("point at the end") << "2."
                                      << "float32[]" << QList<double>{2};
    QTest::newRow("below the smallest double") << "[1e-400,-1e-5000,0.5e-310]"
                                               << "float32[3]" << QList<double>{0, 0, 0};
    QTest::newRow("exponent") << "1e-3"
                              << "float32[]" << QList<double>{static_cast<double>(1e-3f)};
    QTest::newRow("list") << "[1,2,3]"
                          << "int32[3]" << QList<double>{1, 2, 3};
    QTest::newRow("blanks") << " [ 1 , -2 ,\t3 ] "
                            << "int32[3]" << QList<double>{1, -2, 3};
    QTest::newRow("one real makes all real") << "[1,2.5]"
                                             << "float32[2]" << QList<double>{1, 2.5};
    QTest::newRow("nested") << "[[1,2],[3,4],[5,6]]"
                            << "int32[3,2]" << QList<double>{1, 2, 3, 4, 5, 6};
    QTest::newRow("deep") << "[[[7]]]"
                          << "int32[1,1,1]" << QList<double>{7};
    QTest::newRow("empty") << "[]"
                           << "int32[0]" << QList<double>{};
    QTest::newRow("empty rows") << "[[],[]]"
                                << "int32[2,0]" << QList<double>{};
    QTest::newRow("bools") << "[true,False]"
                           << "bool[2]" << QList<double>{1, 0};
    QTest::newRow("bools among numbers") << "[true,5]"
                                         << "int32[2]" << QList<double>{1, 5};
    QTest::newRow("too large for int32") << "[3000000000]"
                                         << "int64[1]" << QList<double>{3e9};
    QTest::newRow("least of int64") << "-9223372036854775808"
                                    << "int64[]" << QList<double>{-9223372036854775808.0};
}

void TestLiteral::textBecomesATensor() {
    QFETCH(QString, text);
    QFETCH(QString, type);
    QFETCH(QList<double>, values);
    QVERIFY(io::isLiteral(text.toStdString()));
    const auto value = io::literalValue(text.toStdString(), {"x", kUnknown});
    QVERIFY2(value.has_value(), value ? "" : value.error().text().c_str());
    QCOMPARE(QString::fromStdString(value->typeText()), type);
    QCOMPARE(numbers(*value), std::vector<double>(values.begin(), values.end()));
}

void TestLiteral::wrongTextIsAUsageError_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("says");
    QTest::newRow("ragged") << "[[1,2],[3]]"
                            << "a list of 1 next to one of 2 elements at column 8";
    QTest::newRow("numbers beside lists") << "[1,[2]]"
                                          << "are mixed";
    QTest::newRow("lists beside numbers") << "[[1],2]"
                                          << "are mixed";
    QTest::newRow("empty beside numbers") << "[1,[]]"
                                          << "are mixed";
    QTest::newRow("not closed") << "[1,2"
                                << "']' is missing at column 5";
    QTest::newRow("closed twice") << "[1]]"
                                  << "unexpected ']' at column 4";
    QTest::newRow("no number") << "[1,x]"
                               << "'x' is not a number at column 4";
    QTest::newRow("missing") << "[1,,2]"
                             << "a number is missing at column 4";
    QTest::newRow("comma at the end") << "[1,]"
                                      << "a number is missing at column 4";
    QTest::newRow("two signs") << "[--1]"
                               << "'--1' is not a number";
    QTest::newRow("hex") << "[0x10]"
                         << "'0x10' is not a number";
    QTest::newRow("above the largest double") << "1e400"
                                              << "'1e400' is out of range";
    QTest::newRow("far above it") << "[1,-1e9999]"
                                  << "'-1e9999' is out of range: the maximum is 1.8e308 at column 4";
    QTest::newRow("no size") << "{2,x}"
                             << "a dim size is missing at column 4";
    QTest::newRow("negative size") << "{-2}"
                                   << "a dim size is missing at column 2";
    QTest::newRow("open string") << "['a]"
                                 << "no closing quote";
    QTest::newRow("deep") << QString(17, u'[') + "1" + QString(17, u']') << "nested lists";
    QTest::newRow("huge") << "{1000000,1000000,1000000}"
                          << "";
}

void TestLiteral::wrongTextIsAUsageError() {
    QFETCH(QString, text);
    QFETCH(QString, says);
    const auto value = io::literalValue(text.toStdString(), {"x", kUnknown});
    QVERIFY(!value);
    if (says.isEmpty()) return;
    QCOMPARE(value.error().exitStatus(), 2);
    QVERIFY2(QString::fromStdString(value.error().text()).contains(says), value.error().text().c_str());
    QVERIFY2(QString::fromStdString(value.error().text()).contains("'x'"), value.error().text().c_str());
}

void TestLiteral::namesOfFilesAreNoNumbers_data() {
    QTest::addColumn<QString>("text");
    for (const char* name :
         {"a.npy", "1.npy", "./16000", "photo.png", "#rand(0,1)", "x", "", "e5", "1x", "/tmp/[1].npy"})
        QTest::newRow(name) << name;
}

void TestLiteral::namesOfFilesAreNoNumbers() {
    QFETCH(QString, text);
    QVERIFY(!io::isLiteral(text.toStdString()));
}

void TestLiteral::shapesAloneAreFilledWithOnes() {
    // b4: every byte is 1.
    const auto bytes = io::literalValue("{2,3}", {"x", TypeInfo::tensor(DType::Int8)});
    QVERIFY(bytes.has_value());
    QCOMPARE(bytes->typeText(), std::string("int8[2,3]"));
    QCOMPARE(numbers(*bytes), std::vector<double>(6, 1));
    const auto ints = io::literalValue("{2}", {"x", TypeInfo::tensor(DType::Int32)});
    QCOMPARE(numbers(*ints), std::vector<double>(2, 0x01010101));
    QCOMPARE(io::literalValue("{}", {"x", TypeInfo::tensor(DType::Bool)})->typeText(), std::string("bool[]"));
}

void TestLiteral::elementsTakeTheInputsType_data() {
    QTest::addColumn<int>("dtype");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("outcome");
    const auto row = [](DType dtype, const char* text, const char* outcome) {
        QTest::addRow("%s of %s", text, std::string(tensor::name(dtype)).c_str())
            << static_cast<int>(dtype) << text << outcome;
    };
    row(DType::Int64, "[1,2]", "int64[2]");
    row(DType::Float32, "[1,2]", "float32[2]");
    row(DType::Float16, "[1,2]", "float16[2]");
    row(DType::Int64, "[1.0,2]", "int64[2]");
    row(DType::Bool, "[0,1]", "bool[2]");
    row(DType::UInt64, "[0,18446744073709551615]", "uint64[2]");
    row(DType::Int64, "[1.5,2]", "input 'x' expects int64[2], got float64[2] (element 0 is 1.5, not an integer)");
    row(DType::UInt8, "[1,256]",
        "input 'x' expects uint8[2], got int64[2] (element 1 is 256, outside of the range of uint8)");
    row(DType::UInt8, "[-1,2]",
        "input 'x' expects uint8[2], got int64[2] (element 0 is -1, outside of the range of uint8)");
    row(DType::Bool, "[0,2]", "input 'x' expects bool[2], got int64[2] (element 1 is 2, neither 0 nor 1)");
    row(DType::Int64, "[0,18446744073709551615]", "outside of the range of int64");
    row(DType::Float16, "[1,1e9]", "outside of the range of float16");
    // Exactly, also beyond 2^53, where doubles are even.
    row(DType::Int64, "[9007199254740993.5,2]", "element 0 is 9007199254740993.5, not an integer");
    row(DType::Int64, "[1e-400,2]", "element 0 is 1e-400, not an integer");
    row(DType::Int64, "[2,-9223372036854775809]", "element 1 is -9223372036854775809, outside of the range of int64");
    row(DType::UInt64, "[1,18446744073709551616]", "is 18446744073709551616, outside of the range of uint64");
    row(DType::Float64, "[1,9007199254740993]", "element 1 is 9007199254740993, which float64 does not hold exactly");
    row(DType::Float64, "[0.5,9007199254740993]", "element 1 is 9007199254740993, which float64 does not hold exactly");
    row(DType::Float64, "[1,9007199254740993.0]", "float64[2]");  // a float is rounded
    row(DType::Float32, "[16777217,0.5]", "element 0 is 16777217, which float32 does not hold exactly");
    row(DType::Float32, "[1,9007199254740993]", "which float32 does not hold exactly");
    row(DType::Float32, "[1,18446744073709551617]", "which float32 does not hold exactly");
    row(DType::Float32, "[1,18446744073709551616]", "float32[2]");  // 2^64
    row(DType::Bool, "[1e-400,1]", "element 0 is 1e-400, neither 0 nor 1");
    row(DType::String, "['a',\"b c\"]", "string[2]");
    row(DType::String, "[1,2]", "input 'x' expects string[2], got int64[2]");
    row(DType::Float32, "['a','b']", "input 'x' expects float32[2], got string[2]");
    row(DType::Int64, "[1,2,3]", "input 'x' expects int64[2], got int64[3] (dimension 0: 2 declared, 3 given)");
    row(DType::Int64, "[[1,2]]", "input 'x' expects int64[2], got int64[1,2] (rank: 1 declared, 2 given)");
}

void TestLiteral::elementsTakeTheInputsType() {
    QFETCH(int, dtype);
    QFETCH(QString, text);
    QFETCH(QString, outcome);
    const auto value =
        io::literalValue(text.toStdString(), declared(TypeInfo::tensor(static_cast<DType>(dtype), Shape{2})));
    const QString was = QString::fromStdString(value ? value->typeText() : value.error().what);
    QVERIFY2(was.contains(outcome), qPrintable(was));
}

void TestLiteral::integersAreExact_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<qlonglong>("value");
    QTest::newRow("2^53 + 1 with a point") << "9007199254740993.0" << 9007199254740993LL;
    QTest::newRow("2^53 + 1 with an exponent") << "9.007199254740993e15" << 9007199254740993LL;
    QTest::newRow("negative exponent") << "-90071992547409930e-1" << -9007199254740993LL;
    QTest::newRow("largest") << "9223372036854775807.0" << std::numeric_limits<qlonglong>::max();
    QTest::newRow("smallest") << "-9223372036854775808." << std::numeric_limits<qlonglong>::min();
    QTest::newRow("leading zeros") << "000.0e99999999999999999999" << 0LL;
}

void TestLiteral::integersAreExact() {
    QFETCH(QString, text);
    QFETCH(qlonglong, value);
    const auto one = io::literalValue(text.toStdString(), declared(TypeInfo::tensor(DType::Int64, Shape{})));
    QVERIFY2(one.has_value(), one ? "" : one.error().text().c_str());
    QCOMPARE(qlonglong(one->tensor().toInt64(0)), value);
    const auto parameter = io::literalValue(text.toStdString(), declared(plain(ValueKind::Int)));
    QVERIFY2(parameter.has_value(), parameter ? "" : parameter.error().text().c_str());
    QCOMPARE(qlonglong(parameter->toInt()), value);
    const TypeInfo pair = plain(ValueKind::Tuple, {plain(ValueKind::Int), plain(ValueKind::Float)});
    const auto tuple = io::literalValue("[" + text.toStdString() + ",0.5]", declared(pair));
    QVERIFY2(tuple.has_value(), tuple ? "" : tuple.error().text().c_str());
    QCOMPARE(qlonglong(tuple->items()[0].toInt()), value);
    QCOMPARE(tuple->items()[1].toFloat(), 0.5);
}

/// Where the model declares no dtype, a number does not become another one either.
void TestLiteral::ownTypesHoldTheNumbers_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("outcome");
    QTest::newRow("beyond int64") << "[18446744073709551615]"
                                  << "element 0 is 18446744073709551615, outside of the range of int64";
    QTest::newRow("beyond float32") << "[1,1e300]"
                                    << "element 1 is 1e300, outside of the range of float32";
    QTest::newRow("integer among floats") << "[0.5,16777217]"
                                          << "element 1 is 16777217, which float32 does not hold exactly";
    QTest::newRow("rounded float") << "[0.1,1]"
                                   << "float32[2]";
}

void TestLiteral::ownTypesHoldTheNumbers() {
    QFETCH(QString, text);
    QFETCH(QString, outcome);
    const auto value = io::literalValue(text.toStdString(), {"x", kUnknown});
    const QString was = QString::fromStdString(value ? value->typeText() : value.error().text());
    QVERIFY2(was.contains(outcome), qPrintable(was));
}

/// Arrays of files go the same way.
void TestLiteral::arraysAreComparedExactly() {
    const auto outcome = [](const tensor::Tensor& given, DType dtype) {
        const auto value = io::fitted(given, declared(TypeInfo::tensor(dtype, Shape{1})), "x.npy");
        return value ? value->typeText() : value.error().what;
    };
    const tensor::Tensor odd = tensor::Tensor::of<std::int64_t>({1}, {9007199254740993});
    QVERIFY(outcome(odd, DType::Float64).ends_with("9007199254740993, which float64 does not hold exactly)"));
    QVERIFY(outcome(odd, DType::Float32).ends_with("9007199254740993, which float32 does not hold exactly)"));
    const tensor::Tensor all = tensor::Tensor::of<std::uint64_t>({1}, {18446744073709551615U});
    QVERIFY(outcome(all, DType::Float64).ends_with("which float64 does not hold exactly)"));
    QVERIFY(outcome(all, DType::Int64).ends_with("outside of the range of int64)"));
    QCOMPARE(outcome(tensor::Tensor::of<double>({1}, {9007199254740992.0}), DType::Int64), std::string("int64[1]"));
    QVERIFY(outcome(tensor::Tensor::of<double>({1}, {9223372036854775808.0}), DType::Int64)
                .ends_with("outside of the range of int64)"));
}

void TestLiteral::oneNumberFitsOneElement() {
    const auto shapeOf = [](const TypeInfo& type) {
        const auto value = io::literalValue("5", declared(type));
        return value ? value->typeText() : value.error().what;
    };
    QCOMPARE(shapeOf(TypeInfo::tensor(DType::Int64, Shape{})), std::string("int64[]"));
    QCOMPARE(shapeOf(TypeInfo::tensor(DType::Int64, Shape{1})), std::string("int64[1]"));
    QCOMPARE(shapeOf(TypeInfo::tensor(DType::Float32, Shape{1, 1})), std::string("float32[1,1]"));
    QCOMPARE(shapeOf(TypeInfo::tensor(DType::Int64, std::vector<Dim>{Dim::named("N")})), std::string("int64[1]"));
    QCOMPARE(shapeOf(TypeInfo::tensor(DType::Int64, Shape{3})),
             std::string("input 'x' expects int64[3], got int64[] (rank: 1 declared, 0 given)"));
}

void TestLiteral::argumentsThatAreNoTensors() {
    const auto text = [](const char* literal, const TypeInfo& type) {
        const auto value = io::literalValue(literal, {"x", type});
        return value ? value->typeText() + " " + value->text() : value.error().what;
    };
    QCOMPARE(text("3", plain(ValueKind::Int)), std::string("int 3"));
    QCOMPARE(text("0.25", plain(ValueKind::Float)), std::string("float 0.25"));
    QCOMPARE(text("2", plain(ValueKind::Float)).substr(0, 7), std::string("float 2"));
    QVERIFY(text("true", plain(ValueKind::Bool)).starts_with("bool "));
    const auto list = io::literalValue("[4,5]", {"x", plain(ValueKind::List, {plain(ValueKind::Int)})});
    QVERIFY(list.has_value() && list->kind() == ValueKind::List);
    QCOMPARE(list->items()[1].toInt(), std::int64_t{5});
    const auto pair =
        io::literalValue("[4,5.5]", {"x", plain(ValueKind::Tuple, {plain(ValueKind::Int), plain(ValueKind::Float)})});
    QVERIFY(pair.has_value());
    QCOMPARE(pair->items()[0].toInt(), std::int64_t{4});
    QCOMPARE(pair->items()[1].toFloat(), 5.5);
    QVERIFY(!io::literalValue("[4]", {"x", plain(ValueKind::Tuple, {plain(ValueKind::Int), plain(ValueKind::Int)})}));
    QCOMPARE(io::literalValue("'mean'", {"x", plain(ValueKind::String)})->toString(), std::string("mean"));
    InputInfo count{"x", plain(ValueKind::Int)};
    count.required = count.type;
    const auto broken = io::literalValue("1.5", count);
    QVERIFY(!broken);
    QVERIFY2(broken.error().what.find("input 'x' expects int") == 0, broken.error().what.c_str());
}

/// test_flag:True, as a person writes it.
void TestLiteral::boolsAndNone() {
    const auto given = [](const char* item, const TypeInfo& type) {
        const auto cases = io::makeInputs(std::string("test_flag:") + item, {{"test_flag", type}});
        return cases ? (*cases)[0].values[0].typeText() + " " + (*cases)[0].values[0].text() : cases.error().what;
    };
    for (const char* word : {"True", "true"}) {
        QCOMPARE(given(word, plain(ValueKind::Bool)), std::string("bool True"));
        QVERIFY(given(word, TypeInfo::tensor(DType::Bool, Shape{})).starts_with("bool[]"));
        QVERIFY(given(word, kUnknown).starts_with("bool[]"));
    }
    QCOMPARE(given("False", plain(ValueKind::Bool)), std::string("bool False"));
    QCOMPARE(given("True", plain(ValueKind::Int)), std::string("input 'test_flag' expects int, got True, a bool"));
    QCOMPARE(given("false", TypeInfo::tensor(DType::Int64, Shape{})),
             std::string("input 'test_flag' expects int64[], got false, a bool"));
    QCOMPARE(given("[1,true]", TypeInfo::tensor(DType::Float32, Shape{2})),
             std::string("input 'test_flag' expects float32[2], got [1,true], a bool"));
    QVERIFY(given("None", kUnknown).starts_with("none"));
    QVERIFY(given("None", plain(ValueKind::Optional, {plain(ValueKind::Int)})).starts_with("none"));
    QCOMPARE(given("None", plain(ValueKind::Int)), std::string("input 'test_flag' expects int, got None"));
    QCOMPARE(given("None", TypeInfo::tensor(DType::Float32, Shape{2})),
             std::string("input 'test_flag' expects float32[2], got None"));
}

void TestLiteral::itemsMayBeNumbers() {
    const std::vector<InputInfo> inputs{declared(TypeInfo::tensor(DType::Float32, Shape{1, 2})),
                                        {"sr", TypeInfo::tensor(DType::Int64, Shape{})}};
    const auto cases = io::makeInputs("x:[[0.5,-1]];sr:16000", inputs);
    QVERIFY2(cases.has_value(), cases ? "" : cases.error().text().c_str());
    QCOMPARE(numbers((*cases)[0].values[0]), (std::vector<double>{0.5, -1}));
    QCOMPARE((*cases)[0].values[1].tensor().toInt64(0), std::int64_t{16000});
    // With one input the name may be left out.
    const auto alone = io::makeInputs("[[3,4]]", {inputs[0]});
    QVERIFY(alone.has_value());
    QCOMPARE(numbers((*alone)[0].values[0]), (std::vector<double>{3, 4}));
}

void TestLiteral::defaultsAreItemsOfTheGrammar() {
    for (const TypeInfo& type : {TypeInfo::tensor(DType::Int64, Shape{}), TypeInfo::tensor(DType::Bool, Shape{}),
                                 TypeInfo::tensor(DType::Float32, Shape{}), TypeInfo::tensor(DType::Int32, Shape{4}),
                                 plain(ValueKind::Int), plain(ValueKind::Float), plain(ValueKind::Bool)}) {
        const auto cases = io::makeInputs("", {{"x", type}});
        QVERIFY2(cases.has_value(), cases ? "" : cases.error().text().c_str());
        QCOMPARE(TypeInfo::of((*cases)[0].values[0]), type);
    }
    const auto mask = io::makeInputs("", {{"x", TypeInfo::tensor(DType::Bool, Shape{50})}});
    QVERIFY(mask.has_value());
    QCOMPARE(numbers((*mask)[0].values[0]), std::vector<double>(50, 1));  // random ones would hide whole rows
    QCOMPARE(
        (*io::makeInputs("", {{"x", TypeInfo::tensor(DType::Float32, Shape{})}}))[0].values[0].tensor().toDouble(0),
        0.5);
}

QTEST_APPLESS_MAIN(TestLiteral)

}  // namespace tst_literal

#include "tst_literal.moc"
