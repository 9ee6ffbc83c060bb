// Kernels that are written as expressions ask for their arguments by name. Each name must be one of the schemas of the
// rows that run the kernel, whichever branch asks for it: the source of core/ops is read for that.

#include <QMap>
#include <QRegularExpression>
#include <QSet>
#include <QtTest>

#include "core/ops/support/eager.h"
#include "tests/support/source_tree.h"

using sonde::test::sourceFiles;
using sonde::test::sourceLines;
using namespace sonde;

namespace {

using Names = QSet<QString>;

// \x22 is a quotation mark: moc does not see the end of raw strings with an odd count of them.
const QRegularExpression kLiteral(QStringLiteral(R"(\x22((?:[^\x22\\]|\\.)*)\x22)"));

/// What a piece of code asks of the argument list.
struct Asked {
    QList<QStringList> needed;  ///< names of which the schema must have one: {"A", "self"}
    Names optional;             ///< may be absent

    void add(const Asked& other) {
        needed += other.needed;
        optional += other.optional;
    }
};

QStringList literalsIn(const QString& text) {
    QStringList list;
    for (const QRegularExpressionMatch& match : kLiteral.globalMatch(text)) list << match.captured(1);
    return list;
}

/// The same with blanks in string literals.
QString withoutStrings(QString text) {
    for (const QRegularExpressionMatch& match : kLiteral.globalMatch(QString(text))) {
        const qsizetype length = match.capturedLength(1);
        text.replace(match.capturedStart(1), length, QString(length, u' '));
    }
    return text;
}

/// The end of what opens at `from`, strings aside.
qsizetype closing(const QString& text, qsizetype from) {
    int depth = 0;
    for (qsizetype i = from; i < text.size(); ++i) {
        const QChar c = text[i];
        if (c == u'"') {
            for (++i; i < text.size() && text[i] != u'"'; ++i) i += text[i] == u'\\';
        } else if (c == u'(' || c == u'{' || c == u'[') {
            ++depth;
        } else if ((c == u')' || c == u'}' || c == u']') && --depth == 0) {
            return i;
        }
    }
    return text.size();
}

/// Statements of a function's body, loops with what is in them as one.
QStringList statementsOf(const QString& body) {
    QStringList statements;
    qsizetype start = 0;
    for (qsizetype i = 0; i < body.size(); ++i) {
        if (body[i] == u'(' || body[i] == u'[' || body[i] == u'"') {
            i = body[i] == u'"' ? body.indexOf(u'"', i + 1) : closing(body, i);
            if (i < 0) break;
        } else if (body[i] == u'{' || body[i] == u';') {
            if (body[i] == u'{') i = closing(body, i);
            const bool goesOn = i + 1 < body.size() && QStringLiteral(" ;.,)[").contains(body[i + 1]);
            if (body[i] == u'}' && goesOn) continue;
            statements << body.mid(start, i + 1 - start);
            start = i + 1;
        }
    }
    return statements << body.mid(start);
}

/// Names of the parameters of "add.Tensor(Tensor self, *, Scalar alpha=1) -> Tensor".
Names parametersOf(const QString& schema) {
    const qsizetype open = schema.indexOf(u'('), arrow = schema.lastIndexOf(QStringLiteral(" -> "));
    QString list = schema.mid(open + 1, schema.lastIndexOf(u')', arrow) - open - 1);
    static const QRegularExpression inBrackets(QStringLiteral(R"([\[(][^\])]*[\])])"));
    list.remove(inBrackets);
    Names names;
    for (const QString& part : list.split(u',')) {
        const QString name = part.section(u'=', 0, 0).trimmed().section(u' ', -1);
        if (!name.isEmpty() && name != u"*") names << name;
    }
    return names;
}

/// Schemas in adjacent literals: "add(Tensor self, " "Tensor other) -> Tensor".
QStringList schemasIn(const QString& text) {
    static const QRegularExpression joint(QStringLiteral(R"("\s*\n\s*")"));
    QString joined = text;
    joined.remove(joint);
    return literalsIn(joined).filter(QStringLiteral(" -> "));
}

/// One file of core/ops: its functions, and what each asks for, with what it calls.
class Source {
  public:
    explicit Source(const QString& text) {
        static const QRegularExpression function(
            QStringLiteral(
                R"(^(?!using|struct|class|enum|namespace|return|template| )[\w:<>&*, ]+?[ &*](\w+)\(([^;{]*?)\)\s*(?:const\s*)?\{)"),
            QRegularExpression::MultilineOption);
        for (const QRegularExpressionMatch& match : function.globalMatch(text)) {
            const qsizetype open = match.capturedEnd() - 1;
            const QString body = text.mid(open + 1, closing(text, open) - open - 1);
            m_texts[match.captured(1)] += body;
            if (match.captured(2).contains(takesNames())) m_takeNames << match.captured(1);
            if (match.captured(0).trimmed().startsWith(u"Row")) m_rowMakers[match.captured(1)] = body;
            if (body.contains(QStringLiteral("registry.add")) || body.contains(QStringLiteral("eagerRow")))
                m_definitions << body;
        }
        static const QRegularExpression lambda(QStringLiteral(R"((?:const )?auto (\w+) = \[[^\]]*\]\(([^)]*)\))"));
        for (const QRegularExpressionMatch& match : lambda.globalMatch(text)) {
            if (match.captured(2).contains(takesNames())) m_takeNames << match.captured(1);
        }
    }

    const QStringList& definitions() const { return m_definitions; }

    Asked askedBy(const QString& text) const {
        QSet<QString> seen;
        Asked all;
        collect(text, seen, all, true);
        // What is asked for after `has` may be absent.
        all.needed.removeIf([&](const QStringList& names) {
            return std::ranges::any_of(names, [&](const QString& name) { return all.optional.contains(name); });
        });
        return all;
    }

    /// Inputs that a row of ONNX names, itself or by a function that begins it.
    Names inputsOfRow(const QString& statement) const {
        static const QRegularExpression input(
            QStringLiteral(R"lit(\.(?:in|optionalIn|variadicIn|anyIn)\(\s*"(\w+)")lit"));
        static const QRegularExpression call(QStringLiteral(R"(\b(\w+)\()"));
        Names names;
        for (const QRegularExpressionMatch& match : input.globalMatch(statement)) names << match.captured(1);
        const bool isLoop = statement.contains(QStringLiteral("optionalIn(name"));
        if (isLoop) {
            const QStringList all = literalsIn(statement);
            names += Names(all.begin(), all.end());
        }
        for (const QRegularExpressionMatch& match : call.globalMatch(statement)) {
            if (!m_rowMakers.contains(match.captured(1))) continue;
            const qsizetype open = match.capturedEnd() - 1;
            const QStringList given = literalsIn(statement.mid(open, closing(statement, open) - open));
            names += Names(given.begin(), given.end());
            if (m_rowMakers[match.captured(1)] != statement) names += inputsOfRow(m_rowMakers[match.captured(1)]);
        }
        return names;
    }

    void setText(const QString& name, const QString& text) { m_texts[name] = text; }

  private:
    static const QRegularExpression& takesNames() {
        static const QRegularExpression pattern(QStringLiteral(R"(\bName \w+)"));
        return pattern;
    }

    void collect(const QString& text, QSet<QString>& seen, Asked& all, bool isRow) const {
        static const QRegularExpression asking(QStringLiteral(
            R"lit(\be\.(has|value|optional|tensors?|integers?|number|flag|text|axis|axes|dtype)\(\s*(\{[^}]*\}|"\w+"))lit"));
        static const QSet<QString> tolerant{"has", "optional", "flag", "axes", "dtype"};
        for (const QRegularExpressionMatch& match : asking.globalMatch(text)) {
            const QStringList names = literalsIn(match.captured(2));
            if (tolerant.contains(match.captured(1))) all.optional += Names(names.begin(), names.end());
            else if (!names.isEmpty()) all.needed << names;
        }
        static const QRegularExpression word(QStringLiteral(R"((?<![.\w])([A-Za-z_]\w*)\b)"));
        const QString code = withoutStrings(text);
        for (const QRegularExpressionMatch& match : word.globalMatch(code)) {
            const QString name = match.captured(1);
            const qsizetype open = match.capturedEnd();
            const bool isCall = code.mid(open, 1) == u"(";
            if (m_takeNames.contains(name) && isCall) {
                const QStringList names = ownLiterals(text.mid(open, closing(text, open) + 1 - open));
                all.optional += Names(names.begin(), names.end());
            }
            // A function is called with `e`; only rows name it otherwise.
            if (!isRow && code.mid(open, 2) != u"(e") continue;
            if (!m_texts.contains(name) || seen.contains(name)) continue;
            seen << name;
            collect(m_texts[name], seen, all, false);
        }
    }
    /// Names in a call's own arguments, not in those of calls inside them.
    static QStringList ownLiterals(QString call) {
        static const QRegularExpression inner(QStringLiteral(R"((?<=.)\([^()]*\))"));
        while (call.mid(1).contains(inner)) call = call.left(1) + call.mid(1).replace(inner, QString());
        return literalsIn(call).filter(identifier());
    }
    static const QRegularExpression& identifier() {
        static const QRegularExpression pattern(QStringLiteral(R"(^[A-Za-z_]\w*$)"));
        return pattern;
    }

    QMap<QString, QString> m_texts;
    QMap<QString, QString> m_rowMakers;
    QStringList m_definitions;
    QSet<QString> m_takeNames;  ///< functions that are given names of arguments
};

/// One place where rows are made: their schemas, and what their kernels ask for.
struct RowPlace {
    QString name;
    QList<Names> schemas;
    Asked asked;
    bool isOneRow = false;
};

class RowReader {
  public:
    explicit RowReader(const QString& text) : m_source(text) {
        for (const QString& body : m_source.definitions()) {
            m_schemas.clear();
            m_inputs.clear();
            for (const QString& statement : statementsOf(body)) read(statement);
        }
    }
    const QList<RowPlace>& places() const { return m_places; }

  private:
    void read(const QString& statement) {
        static const QRegularExpression variable(QStringLiteral(R"(^\s*(?:(?:const )?auto|Row) (\w+) =\s)"));
        static const QRegularExpression row(
            QStringLiteral(R"lit(\b(?:eagerRow|visionRow|add)\(\s*(?:\x22|schema\b|row\.|k\w+\[)|\.runs\()lit"));
        if (const QStringList own = schemasIn(statement); !own.isEmpty()) m_schemas = own;
        const QRegularExpressionMatch match = variable.match(statement);
        if (match.hasMatch()) {
            m_source.setText(match.captured(1), statement);
            m_inputs[match.captured(1)] += m_source.inputsOfRow(statement);
            return;
        }
        if (!statement.contains(row)) {
            for (auto [name, inputs] : m_inputs.asKeyValueRange()) {
                if (statement.contains(name)) inputs += m_source.inputsOfRow(statement);
            }
            return;
        }
        RowPlace place{.asked = m_source.askedBy(statement), .isOneRow = statement.count(row) == 1};
        if (statement.contains(QStringLiteral(".runs("))) {
            Names inputs = m_source.inputsOfRow(statement);
            for (const auto& [name, added] : m_inputs.asKeyValueRange()) {
                if (statement.contains(name)) inputs += added;
            }
            place.schemas << inputs;
            place.name = statement.simplified().left(60);
        } else {
            for (const QString& schema : m_schemas) place.schemas << parametersOf(schema);
            place.name = m_schemas.value(0).section(u'(', 0, 0);
        }
        m_places << place;
    }

    Source m_source;
    QStringList m_schemas;          // the last ones that were seen: a table, then a loop over it
    QMap<QString, Names> m_inputs;  // of what begins a row
    QList<RowPlace> m_places;
};

/// "row: name" for each name that a kernel asks for and that the schemas of its rows lack.
QStringList strangersIn(const QString& text) {
    QStringList strangers;
    Names known;
    QMap<QString, QString> unknown;
    const RowReader reader(text);
    for (const RowPlace& place : reader.places()) {
        Names any;
        for (const Names& schema : place.schemas) any += schema;
        // Another overload that shares the kernel may have what this one lacks.
        for (const QString& name : place.asked.optional) {
            if (any.contains(name)) known << name;
            else unknown[name] = place.name;
        }
        for (const QStringList& names : place.asked.needed) {
            const auto isIn = [&](const Names& schema) {
                return std::ranges::any_of(names, [&](const QString& name) { return schema.contains(name); });
            };
            const bool good = place.isOneRow ? std::ranges::all_of(place.schemas, isIn) : isIn(any);
            if (!good) strangers << place.name + QStringLiteral(": ") + names.join(u'|');
        }
    }
    for (const auto& [name, place] : unknown.asKeyValueRange()) {
        if (!known.contains(name)) strangers << place + QStringLiteral(": ") + name;
    }
    return strangers;
}

}  // namespace

class TestParameterNames : public QObject {
    Q_OBJECT

  private slots:
    void readerFindsStrangers_data();
    void readerFindsStrangers();
    void everyNameIsInItsSchemas();
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
        R"lit(    registry.add(Row("F", 1, "", kEl).in("X").optionalIn("bias").runs(f, inferSame));)lit";
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
    const QString found = strangersIn(text).join(u' ');
    QVERIFY2(stranger.isEmpty() ? found.isEmpty() : found.contains(stranger), qPrintable(found));
}

void TestParameterNames::everyNameIsInItsSchemas() {
    QStringList all;
    qsizetype asked = 0;
    for (const QString& file : sourceFiles({"core/ops"}, {"*.cpp"})) {
        const QString text = sourceLines(file).join(u'\n');
        for (const QString& stranger : strangersIn(text)) all << file + u' ' + stranger;
        const RowReader reader(text);
        for (const RowPlace& place : reader.places()) asked += place.asked.needed.size();
    }
    QVERIFY2(asked > 800, qPrintable(QString::number(asked)));
    QVERIFY2(all.isEmpty(), qPrintable(all.join(u'\n')));
}

void TestParameterNames::nothingIsReadByNumber() {
    static const QRegularExpression byNumber(
        QStringLiteral(R"(\be\.(?:at|value|has|tensors?|integers?|number|flag|text|axis|axes|dtype)\([0-9])"));
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
    const std::vector<ops::Value> values{ops::Value::ofInt(1)};
    const auto result = ops::call(row, values, {}, 1, environment);
    QVERIFY(!result);
    QVERIFY2(QString::fromStdString(result.error().text()).contains(u"no parameter 'dims'"),
             result.error().text().c_str());
}

QTEST_APPLESS_MAIN(TestParameterNames)
#include "tst_parameter_names.moc"
