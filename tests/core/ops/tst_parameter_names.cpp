// Kernels and inference ask for inputs and outputs by name. Each name must be in the schema of a row that runs the
// function, whichever branch asks for it: the source of core/ops is read for that. What one row lacks that shares the
// function is found by tst_row_names.

#include <QtTest>

#include "core/ops/support/eager.h"
#include "tests/core/ops/row_reader.h"

namespace tst_parameter_names {

using namespace sonde;
using namespace sonde::test;

class TestParameterNames : public QObject {
    Q_OBJECT

  private slots:
    void readerFindsStrangers_data();
    void readerFindsStrangers();
    void everyNameIsInItsSchemas();
    void everyReadIsLookedAt();
    void nothingIsReadByNumber();
    void argumentsAreFoundByName();
    void missingNameIsAnError();
};

void TestParameterNames::readerFindsStrangers_data() {
    QTest::addColumn<QString>("kernel");
    QTest::addColumn<QString>("rows");
    QTest::addColumn<QString>("stranger");
    const QString one = R"lit(    registry.add(eagerRow("f(Tensor self, int dim=-1) -> Tensor", "", kEl, f));)lit";
    const QString two =
        one + "\n" +
        R"lit(    registry.add(eagerRow("f.flag(Tensor self, bool keep, int[2] dim=[0,1]) -> Tensor", "", kEl, f));)lit";
    const QString onnx =
        R"lit(    registry.add(Row("F", 1, "", kEl).in("X").optionalIn("bias").out("Y").runs(f, inferSame));)lit";
    QTest::newRow("known") << R"(e.integer("dim"))" << one << "";
    QTest::newRow("typing error") << R"(e.integer("dims"))" << one << "f: dims";
    QTest::newRow("asked for if there") << R"(e.flag("keep"))" << one << "f: keep";
    QTest::newRow("one overload has it") << R"(e.number("keep"))" << two << "f: keep";
    QTest::newRow("one overload has it, asked before") << R"(e.has("dim") ? e.number("dim") : 0)" << two << "";
    QTest::newRow("other name") << R"(e.tensor({"A", "self"}))" << two << "";
    QTest::newRow("no other name") << R"(e.tensor({"A", "B"}))" << one << "f: A|B";
    QTest::newRow("called function") << R"(helper(e))" << one << "f: wrong";
    QTest::newRow("ONNX") << R"(e.tensor("X") + e.optional("bias"))" << onnx << "";
    QTest::newRow("ONNX, unknown") << R"(e.tensor("Y"))" << onnx << "Y";
    QTest::newRow("plain") << R"(context.in("X") + context.optionalIn("bias"))" << onnx << "";
    QTest::newRow("plain, typing error") << R"(context.has("bais"))" << onnx << "f bais";
    QTest::newRow("plain, one overload has it") << R"(context.value("keep"))" << two << "";
    QTest::newRow("plain, no overload has it") << R"(context.constant({"kept", "held"}))" << two << "f kept|held";
    QTest::newRow("plain, output") << R"(context.setOutput("Y", value))" << onnx << "";
    QTest::newRow("plain, input as output") << R"(context.wants("X"))" << onnx << "f ->X";
    QTest::newRow("plain, list") << R"([&] { for (const char* name : {"X", "Z"}) context.has(name); }())" << onnx
                                 << "f Z";
    QTest::newRow("plain, given to a function") << R"(setLike(context, "Z", dims))" << onnx << "f Z";
}

void TestParameterNames::readerFindsStrangers() {
    QFETCH(QString, kernel);
    QFETCH(QString, rows);
    QFETCH(QString, stranger);
    const QString text = QStringLiteral(
                             "int helper(Eager& e) {\n    return e.text(\"wrong\");\n}\n"
                             "EagerResult f(Eager& e) {\n    return %1;\n}\n"
                             "void define_f(Registry& registry) {\n%2\n}\n")
                             .arg(kernel, rows);
    const QString found = strangersIn(RowReader(text)).join(u' ');
    QVERIFY2(stranger.isEmpty() ? found.isEmpty() : found.contains(stranger), qPrintable(found));
}

void TestParameterNames::everyNameIsInItsSchemas() {
    QStringList all;
    qsizetype asked = 0;
    for (const QString& file : sourceFiles({"core/ops"}, {"*.cpp"})) {
        const QString text = sourceLines(file).join(u'\n');
        const RowReader reader(text);
        for (const QString& stranger : strangersIn(reader)) all << file + u' ' + stranger;
        for (const RowPlace& place : reader.places()) {
            asked += place.asked.needed.size();
            for (const auto& names : place.asked.plain) asked += names.size();
        }
    }
    QVERIFY2(asked > 3000, qPrintable(QString::number(asked)));
    QVERIFY2(all.isEmpty(), qPrintable(all.join(u'\n')));
}

/// The reader has not missed a function: each name in a file is asked for by one of its rows, or if the file has none,
/// by those of others.
void TestParameterNames::everyReadIsLookedAt() {
    QMap<QString, QSet<QStringList>> read, asked;
    QSet<QStringList> askedByAll;
    for (const QString& file : sourceFiles({"core/ops"}, {"*.cpp"})) {
        if (file.startsWith(QStringLiteral("core/ops/registry/"))) continue;  // rows as data
        const QString text = sourceLines(file).join(u'\n');
        const RowReader reader(text);
        for (const RowPlace& place : reader.places()) {
            for (const QList<QStringList>& names : place.asked.plain) asked[file] += QSet(names.begin(), names.end());
        }
        askedByAll += asked[file];
        for (const QRegularExpressionMatch& match : askedOfContext().globalMatch(text)) read[file] << namesAsked(match);
    }
    QStringList missed;
    for (const auto& [file, names] : read.asKeyValueRange()) {
        for (const QStringList& each : names - (asked[file].isEmpty() ? askedByAll : asked[file]))
            missed << file + u' ' + each.join(u'|');
    }
    QVERIFY2(missed.isEmpty(), qPrintable(missed.join(u'\n')));
}

void TestParameterNames::nothingIsReadByNumber() {
    static const QRegularExpression byNumber(QStringLiteral(
        R"(\b(?:e|c|context|inner)\.(?:at|in|value|has|optionalIn|constant|elements|tensors?|integers?|number|flag|text|axis|axes|dtype)\([0-9])"));
    QStringList found;
    for (const QString& file : sourceFiles({"core/ops"}, {"*.h", "*.cpp"})) {
        const QStringList lines = sourceLines(file);
        for (int i = 0; i < lines.size(); ++i) {
            if (lines[i].contains(byNumber)) found << QStringLiteral("%1:%2").arg(file).arg(i + 1);
        }
    }
    QVERIFY2(found.isEmpty(), qPrintable(found.join(u'\n')));
}

/// sort and sort.stable have their parameters in another order; one kernel reads both.
void TestParameterNames::argumentsAreFoundByName() {
    const ops::EagerKernel kernel = [](ops::Eager& e) -> ops::EagerResult {
        const std::int64_t stable = e.has("stable") ? e.integer("stable") : -1;
        return ops::Value::ofInt(100 * stable + 10 * e.integer("dim") + e.integer({"descending", "reversed"}));
    };
    base::ThreadPool pool(1);
    ops::RunEnvironment environment{.pool = &pool};
    const auto run = [&](std::string_view schema, std::vector<std::int64_t> numbers) {
        std::vector<ops::Value> values;
        for (const std::int64_t number : numbers) values.push_back(ops::Value::ofInt(number));
        const auto result =
            ops::call(ops::eagerRow(schema, "", ops::Category::Other, kernel), values, {}, 1, environment);
        return result ? result->front().toInt() : -1;
    };
    QCOMPARE(run("sort.stable(int stable, int dim, int descending) -> int", {1, 2, 3}), 123);
    QCOMPARE(run("sort(int dim, int descending) -> int", {2, 3}), -77);
    QCOMPARE(run("sort.older(int reversed, int dim=4) -> int", {3}), -57);
}

void TestParameterNames::missingNameIsAnError() {
    base::ThreadPool pool(1);
    ops::RunEnvironment environment{.pool = &pool};
    const ops::OpDef row = ops::eagerRow("f(int dim) -> int", "", ops::Category::Other,
                                         [](ops::Eager& e) -> ops::EagerResult { return e.value("dims"); });
    ops::OpDef plain = row;
    plain.kernel = [](ops::KernelContext& context) -> base::Result<void> {
        context.setOutput("dims", context.value("dim"));
        return {};
    };
    ops::OpDef optional = row;
    optional.kernel = [](ops::KernelContext& context) -> base::Result<void> {
        context.setOutput(ops::Value::ofBool(context.has("dims") || context.optionalIn("dims")));
        return {};
    };
    const std::vector<ops::Value> values{ops::Value::ofInt(1)};
    for (const ops::OpDef& wrong : {row, plain}) {
        const auto result = ops::call(wrong, values, {}, 1, environment);
        QVERIFY(!result);
        QVERIFY2(QString::fromStdString(result.error().text()).contains(u"no parameter 'dims'"),
                 result.error().text().c_str());
    }
    const auto absent = ops::call(optional, values, {}, 1, environment);
    QVERIFY2(absent, absent ? "" : absent.error().text().c_str());
    QVERIFY(!absent->front().toBool());
}

QTEST_APPLESS_MAIN(TestParameterNames)

}  // namespace tst_parameter_names

#include "tst_parameter_names.moc"
