#pragma once

// Reads the source of core/ops: which rows there are, which functions they run, and which names those ask for.

#include <QMap>
#include <QRegularExpression>
#include <QSet>
#include <QStringList>

#include <algorithm>

#include "tests/support/source_tree.h"

namespace sonde::test {

using Names = QSet<QString>;

// \x22 is a quotation mark: moc does not see the end of raw strings with an odd count of them.
inline const QRegularExpression kLiteral(QStringLiteral(R"(\x22((?:[^\x22\\]|\\.)*)\x22)"));

/// What a piece of code asks of the argument list.
struct Asked {
    QList<QStringList> needed;  ///< names of which the schema must have one: {"A", "self"}
    Names optional;             ///< may be absent
    /// By function, what plain kernels and inference ask for; of outputs "->Y". Rows that share the function may lack
    /// it, for the row decides which branch is taken, but not all.
    QMap<QString, QList<QStringList>> plain;
};

inline QStringList literalsIn(const QString& text) {
    QStringList list;
    for (const QRegularExpressionMatch& match : kLiteral.globalMatch(text)) list << match.captured(1);
    return list;
}

/// The same with blanks in string literals.
inline QString withoutStrings(QString text) {
    for (const QRegularExpressionMatch& match : kLiteral.globalMatch(QString(text))) {
        const qsizetype length = match.capturedLength(1);
        text.replace(match.capturedStart(1), length, QString(length, u' '));
    }
    return text;
}

/// Without comments, and with blanks for characters such as '(', which would count as brackets.
inline QString withoutComments(QString text) {
    static const QRegularExpression aside(QStringLiteral(R"('(?:[^'\\]|\\.)'|//[^\n]*)"));
    const QString code = withoutStrings(text);
    for (const QRegularExpressionMatch& match : aside.globalMatch(code)) {
        const qsizetype length = match.capturedLength();
        text.replace(match.capturedStart(), length, QString(length, u' '));
    }
    return text;
}

/// The end of what opens at `from`, strings aside.
inline qsizetype closing(const QString& text, qsizetype from) {
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

/// "a", "{b, c}" of "(a, {b, c})".
inline QStringList argumentsOf(const QString& call) {
    QStringList arguments;
    qsizetype start = 1;
    for (qsizetype i = 1; i < call.size(); ++i) {
        if (call[i] == u'"') i = call.indexOf(u'"', i + 1);
        else if (call[i] == u'(' || call[i] == u'{' || call[i] == u'[') i = closing(call, i);
        if (i < 0 || i >= call.size()) break;
        if (call[i] != u',' && call[i] != u')') continue;
        arguments << call.mid(start, i - start);
        start = i + 1;
    }
    return arguments;
}

/// A parameter that is a name, or several.
struct NameParameter {
    qsizetype position;
    bool isList;
};

/// Those of "KernelContext& context, Name output, DType dtype".
inline QList<NameParameter> nameParameters(const QString& parameters) {
    static const QRegularExpression name(QStringLiteral(R"(\bName \w+|initializer_list<Name>)"));
    QList<NameParameter> found;
    const QStringList list = argumentsOf(u'(' + parameters + u')');
    for (qsizetype i = 0; i < list.size(); ++i) {
        if (list[i].contains(name)) found << NameParameter{i, list[i].contains(u'<')};
    }
    return found;
}

/// Functions of headers that are given names.
inline const QMap<QString, QList<NameParameter>>& sharedFunctions() {
    static const QMap<QString, QList<NameParameter>> all = [] {
        static const QRegularExpression declaration(
            QStringLiteral(
                R"(^[\w:<>&*, ]+?[ &*](\w+)\(((?:KernelContext|InferContext|const InferContext|Eager)[^;{]*?)\);)"),
            QRegularExpression::MultilineOption);
        QMap<QString, QList<NameParameter>> functions;
        for (const QString& file : sourceFiles({"core/ops"}, {"*.h"})) {
            const QString text = sourceLines(file).join(u'\n');
            for (const QRegularExpressionMatch& match : declaration.globalMatch(text)) {
                if (const QList<NameParameter> names = nameParameters(match.captured(2)); !names.isEmpty())
                    functions[match.captured(1)] = names;
            }
        }
        return functions;
    }();
    return all;
}

/// Statements of a function's body, loops with what is in them as one.
inline QStringList statementsOf(const QString& body) {
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
inline Names parametersOf(const QString& schema) {
    const qsizetype open = schema.indexOf(u'('), arrow = schema.lastIndexOf(QStringLiteral(" -> "));
    QString list = schema.mid(open + 1, schema.lastIndexOf(u')', arrow) - open - 1);
    static const QRegularExpression inBrackets(QStringLiteral(R"([\[(][^\])]*[\])])"));
    list.remove(inBrackets);
    Names names;
    for (const QString& part : list.split(u',')) {
        const QString name = part.section(u'=', 0, 0).trimmed().section(u' ', -1);
        if (!name.isEmpty() && name != u"*") names << name;
    }
    static const QRegularExpression output(QStringLiteral(R"(\w (\w+)(?=[,)]))"));
    for (const QRegularExpressionMatch& match : output.globalMatch(schema.mid(arrow)))
        names << QStringLiteral("->") + match.captured(1);
    return names;
}

/// Schemas in adjacent literals: "add(Tensor self, " "Tensor other) -> Tensor".
inline QStringList schemasIn(const QString& text) {
    static const QRegularExpression joint(QStringLiteral(R"("\s*\n\s*")"));
    QString joined = text;
    joined.remove(joint);
    return literalsIn(joined).filter(QStringLiteral(" -> "));
}

/// Names that are asked of a KernelContext or an InferContext, or of either by `valueAt`.
inline const QRegularExpression& askedOfContext() {
    static const QRegularExpression pattern(QStringLiteral(
        R"lit(\b(?:(?:c|context)\.(has|value|in|optionalIn|position|constant|elements|wants|output|set|setOutput)|valueAt)\(\s*(\{\s*\x22[^}]*\}|"\w+"))lit"));
    return pattern;
}

inline QStringList asOutputs(QStringList names) {
    for (QString& name : names) name.prepend(QStringLiteral("->"));
    return names;
}

inline QStringList namesAsked(const QRegularExpressionMatch& match) {
    static const QSet<QString> outputs{"wants", "output", "set", "setOutput"};
    const QStringList names = literalsIn(match.captured(2));
    return outputs.contains(match.captured(1)) ? asOutputs(names) : names;
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
            if (const QList<NameParameter> names = nameParameters(match.captured(2)); !names.isEmpty())
                m_takeNames[match.captured(1)] = names;
            if (match.captured(0).trimmed().startsWith(u"Row")) m_rowMakers[match.captured(1)] = body;
            if (match.captured(2).contains(QStringLiteral("Registry&"))) m_definitions << body;
        }
        QString tables = text;
        for (const QString& body : m_definitions) tables.remove(body);
        m_tableSchemas = schemasIn(tables);
    }

    const QStringList& definitions() const { return m_definitions; }
    /// Of a table outside the functions that add its rows.
    const QStringList& tableSchemas() const { return m_tableSchemas; }

    Asked askedBy(const QString& text) const {
        QSet<QString> seen;
        Asked all;
        collect(text, text.simplified().left(60), seen, all, true);
        // What is asked for after `has` may be absent.
        all.needed.removeIf([&](const QStringList& names) {
            return std::ranges::any_of(names, [&](const QString& name) { return all.optional.contains(name); });
        });
        return all;
    }

    /// Inputs that a row of ONNX names, itself or by a function that begins it.
    Names inputsOfRow(const QString& statement) const {
        static const QRegularExpression input(
            QStringLiteral(R"lit(\.((?:i|optionalI|variadicI|anyI)n|out)\(\s*"(\w+)")lit"));
        static const QRegularExpression call(QStringLiteral(R"(\b(\w+)\()"));
        Names names;
        for (const QRegularExpressionMatch& match : input.globalMatch(statement))
            names << (match.captured(1) == u"out" ? QStringLiteral("->") : QString()) + match.captured(2);
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
    /// `origin`: the function whose text it is.
    void collect(const QString& text, const QString& origin, QSet<QString>& seen, Asked& all, bool isRow) const {
        collectAsked(text, origin, all);
        const QMap<QString, QList<NameParameter>> takeNames = functionsGivenNames(text);
        static const QRegularExpression word(QStringLiteral(R"((?<![.\w])([A-Za-z_]\w*)\b)"));
        static const QRegularExpression passed(QStringLiteral(R"(\b(?:e|c|context|inner)\b)"));
        const QString code = withoutStrings(text);
        for (const QRegularExpressionMatch& match : word.globalMatch(code)) {
            const QString name = match.captured(1);
            qsizetype open = match.capturedEnd();
            if (code.mid(open, 1) == u"<") open = code.indexOf(u'>', open) + 1;
            const QString call = code.mid(open, 1) == u"(" ? text.mid(open, closing(text, open) + 1 - open) : QString();
            if (!call.isEmpty()) collectGiven(takeNames.value(name), name, call, origin, all);
            // A function is called with `e` or `context`; only rows name it otherwise.
            if (!isRow && !code.mid(open, 10).startsWith(QStringLiteral("(e")) && !passed.match(call).hasMatch())
                continue;
            const QString body = m_texts.value(name, sharedTexts().value(name));
            if (body.isEmpty() || seen.contains(name)) continue;
            seen << name;
            collect(body, name, seen, all, false);
        }
    }

    void collectAsked(const QString& text, const QString& origin, Asked& all) const {
        static const QRegularExpression ofExpression(QStringLiteral(
            R"lit(\be\.(has|value|optional|tensors?|integers?|number|flag|text|axis|axes|dtype)\(\s*(\{[^}]*\}|"\w+"))lit"));
        static const QSet<QString> tolerant{"has", "optional", "flag", "axes", "dtype"};
        for (const QRegularExpressionMatch& match : ofExpression.globalMatch(text)) {
            const QStringList names = literalsIn(match.captured(2));
            if (tolerant.contains(match.captured(1))) all.optional += Names(names.begin(), names.end());
            else if (!names.isEmpty()) all.needed << names;
        }
        for (const QRegularExpressionMatch& match : askedOfContext().globalMatch(text))
            all.plain[origin] << namesAsked(match);
        // Names in a list, one after the other: for (const char* name : {"min", "max"}) … context.has(name)
        static const QRegularExpression list(
            QStringLiteral(R"lit(const char\*(?: const)? (\w+)(?:\[\])? (?:=|:) \{([^}]*)\})lit"));
        for (const QRegularExpressionMatch& match : list.globalMatch(text)) {
            const QRegularExpression reading(QStringLiteral(R"(\b(?:c|context)\.\w+\(%1\b)").arg(match.captured(1)));
            if (!text.contains(reading)) continue;
            for (const QString& name : literalsIn(match.captured(2))) all.plain[origin] << QStringList{name};
        }
    }

    /// Those that a text may call: of headers, of the file, and its own lambdas.
    QMap<QString, QList<NameParameter>> functionsGivenNames(const QString& text) const {
        static const QRegularExpression lambda(QStringLiteral(R"((?:const )?auto (\w+) = \[[^\]]*\]\(([^)]*)\))"));
        QMap<QString, QList<NameParameter>> functions = sharedFunctions();
        functions.insert(m_takeNames);
        for (const QRegularExpressionMatch& match : lambda.globalMatch(text))
            functions[match.captured(1)] = nameParameters(match.captured(2));
        return functions;
    }

    /// Functions that rows of several files share.
    static const QMap<QString, QString>& sharedTexts() {
        static const QMap<QString, QString> all = [] {
            QMap<QString, QString> texts;
            for (const QString& file : sourceFiles({"core/ops/support", "core/ops/linalg"}, {"*.cpp"}))
                texts.insert(Source(withoutComments(sourceLines(file).join(u'\n'))).m_texts);
            return texts;
        }();
        return all;
    }

    /// What a function that takes names is given.
    void collectGiven(const QList<NameParameter>& parameters, const QString& name, const QString& call,
                      const QString& origin, Asked& all) const {
        if (parameters.isEmpty()) return;
        const QStringList arguments = argumentsOf(call);
        for (const auto [i, isList] : parameters) {
            if (i >= arguments.size() || arguments[i].contains(u'(')) continue;
            QStringList names = literalsIn(arguments[i]).filter(identifier());
            if (name == u"setNarrow") names = asOutputs(names);
            const bool isPair = !isList && arguments[i].trimmed().startsWith(u'{');
            if (isPair) all.plain[origin] << names;
            for (const QString& each : names) {
                if (!isPair) all.plain[origin] << QStringList{each};
            }
        }
    }
    static const QRegularExpression& identifier() {
        static const QRegularExpression pattern(QStringLiteral(R"(^[A-Za-z_]\w*$)"));
        return pattern;
    }

    QMap<QString, QString> m_texts;
    QMap<QString, QString> m_rowMakers;
    QStringList m_definitions, m_tableSchemas;
    QMap<QString, QList<NameParameter>> m_takeNames;  ///< functions that are given names, and at which positions
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
    explicit RowReader(const QString& text) : m_source(withoutComments(text)) {
        for (const QString& body : m_source.definitions()) {
            m_schemas = m_source.tableSchemas();
            m_inputs.clear();
            for (const QString& statement : statementsOf(body)) read(statement);
        }
    }
    const QList<RowPlace>& places() const { return m_places; }

  private:
    void read(const QString& statement) {
        static const QRegularExpression variable(QStringLiteral(R"(^\s*(?:(?:const )?auto|Row) (\w+)(?: =\s|\())"));
        static const QRegularExpression row(QStringLiteral(
            R"lit(\b(?:registry\.add\(\s*)?(?:aten|eager)Row\(|\bregistry\.add\(|\badd\w*\(|\.runs\()lit"));
        if (const QStringList own = schemasIn(statement); !own.isEmpty()) m_schemas = own;
        const QRegularExpressionMatch match = variable.match(statement);
        if (match.hasMatch()) {
            m_source.setText(match.captured(1), statement);
            m_inputs[match.captured(1)] += m_source.inputsOfRow(statement);
            for (const auto& [name, inputs] : m_inputs.asKeyValueRange()) {
                if (statement.contains(name)) m_inputs[match.captured(1)] += inputs;
            }
            if (!statement.contains(row)) return;
        }
        if (!statement.contains(row)) {
            for (auto [name, inputs] : m_inputs.asKeyValueRange()) {
                if (statement.contains(name)) inputs += m_source.inputsOfRow(statement);
            }
            return;
        }
        if (m_schemas.isEmpty() && !statement.contains(QStringLiteral(".runs("))) return;  // a function that adds rows
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

inline bool anyIsIn(const QStringList& names, const Names& schema) {
    return std::ranges::any_of(names, [&](const QString& name) { return schema.contains(name); });
}

/// "row: name" for each name that is asked for and that the schemas of the rows lack.
inline QStringList strangersIn(const RowReader& reader) {
    QStringList strangers;
    Names known;
    QMap<QString, QString> unknown;
    for (const RowPlace& place : reader.places()) {
        Names any;
        for (const Names& schema : place.schemas) any += schema;
        // Another overload that shares the kernel may have what this one lacks.
        for (const QString& name : place.asked.optional) {
            if (any.contains(name)) known << name;
            else unknown[name] = place.name + QStringLiteral(": ") + name;
        }
        for (const QStringList& names : place.asked.needed) {
            const auto isIn = [&](const Names& schema) { return anyIsIn(names, schema); };
            const bool good = place.isOneRow ? std::ranges::all_of(place.schemas, isIn) : isIn(any);
            if (!good) strangers << place.name + QStringLiteral(": ") + names.join(u'|');
        }
        for (const auto& [function, asked] : place.asked.plain.asKeyValueRange()) {
            for (const QStringList& names : asked) {
                const QString key = function + u' ' + names.join(u'|');
                if (anyIsIn(names, any)) known << key;
                else unknown[key] = place.name + QStringLiteral(": ") + key;
            }
        }
    }
    for (const auto& [key, text] : unknown.asKeyValueRange()) {
        if (!known.contains(key)) strangers << text;
    }
    return strangers;
}

}  // namespace sonde::test
