// Rules of single operators against values that others computed: PyTorch's, and the ONNX backend cases'.

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QtTest>

#include <cstdio>
#include <set>

#include "core/document/document.h"
#include "core/io/onnx/value_file.h"
#include "tests/core/session/why/recombined_call.h"
#include "tests/support/json_values.h"
#include "tests/support/reference_sets.h"

namespace tst_why_rules {

using namespace sonde;
using tensor::Value;

namespace {

/// Operators, by what became of their elements.
struct Tally {
    std::set<std::string> explained, without;
    std::map<std::string, QString> refused;  ///< in some cases
    std::size_t elements = 0;

    void print(const char* what) const {
        std::printf("%s: %zu elements of %zu operators recombined; %zu operators without a rule:", what, elements,
                    explained.size(), without.size());
        for (const std::string& name : without) std::printf(" %s", name.c_str());
        std::printf("\n");
        for (const auto& [name, why] : refused) std::printf("  %s: %s\n", name.c_str(), qPrintable(why));
    }
};

QByteArray lines(const char* path) {
    QFile file(QStringLiteral(SONDE_TEST_DATA "/") + path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// The call of a line of cases.jsonl, with PyTorch's results.
std::optional<test::RecombinedCall> callIn(const QByteArray& line) {
    const QJsonObject json = QJsonDocument::fromJson(line).object();
    std::string name = json["op"].toString().toStdString(), domain = "aten";
    if (const std::size_t colon = name.find("::"); colon != std::string::npos) {
        domain = name.substr(0, colon);
        name = name.substr(colon + 2);
    }
    test::RecombinedCall call;
    call.op = ops::Registry::all().find(domain, name, 0);
    if (!call.op || !call.op->kernel) return std::nullopt;
    for (const QJsonValue& argument : json["in"].toArray()) call.inputs.push_back(test::valueIn(argument));
    const QJsonObject keywords = json["kw"].toObject();
    for (std::size_t i = call.inputs.size(); i < call.op->parameters.size(); ++i) {
        const ops::Parameter& parameter = call.op->parameters[i];
        const QString key = QString::fromUtf8(parameter.name.data(), static_cast<qsizetype>(parameter.name.size()));
        call.inputs.push_back(keywords.contains(key) ? test::valueIn(keywords[key])
                                                     : parameter.fallback.value_or(Value()));
    }
    for (const QJsonValue& result : json["out"].toArray()) call.results.push_back(test::valueIn(result));
    return call;
}

std::vector<Value> caseValues(const document::Document& document, const std::vector<graph::NodeId>& nodes,
                              const QString& prefix) {
    std::vector<Value> values(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        auto file = base::MappedFile::open(QString(prefix + "_%1.pb").arg(i).toStdString());
        if (!file) continue;
        auto value = io::readOnnxValue(std::move(*file), document.graph->node(nodes[i]).type);
        if (value) values[i] = std::move(*value);
    }
    return values;
}

/// Explains elements of the outputs that a backend case expects.
QStringList problemsOfCase(const QString& file, Tally& tally) {
    QStringList problems;
    if (file.contains("bernoulli")) return problems;  // what a case expects of chance is no value
    const auto opened = document::open(file.toStdString());
    if (!opened) return problems;
    const document::Document& document = **opened;
    const QString folder = QFileInfo(file).path() + "/test_data_set_0";
    const auto plan = exec::Plan::make(document.graph, {.watchAll = true});
    if (!plan) return problems;
    exec::Runner runner;
    const std::vector<Value> inputs = caseValues(document, document.graph->inputs(), folder + "/input");
    const exec::Recording recording = runner.run(**plan, inputs);
    test::RecordedReader reader(*document.graph, recording);
    const std::vector<graph::NodeId> outputs = document.graph->outputs();
    const std::vector<Value> expected = caseValues(document, outputs, folder + "/output");
    for (std::size_t i = 0; i < document.graph->inputs().size(); ++i)
        reader.expected[document.graph->inputs()[i]] = inputs[i];
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (!expected[i].isTensor() || expected[i].tensor().numel() == 0) continue;
        reader.expected[outputs[i]] = expected[i];
        const tensor::Tensor& tensor = expected[i].tensor();
        const graph::Expr& expr = document.graph->expr(document.graph->node(outputs[i]).producer);
        for (const std::int64_t element : test::someElements(tensor.numel(), 4, 1)) {
            session::why::Place place{outputs[i], {}, {}};
            std::int64_t rest = element;
            for (std::size_t d = tensor.rank(); d-- > 0;) {
                place.index.insert(place.index.begin(), rest % tensor.dim(d));
                rest /= tensor.dim(d);
            }
            const auto found = session::why::explain(*document.graph, place, reader);
            if (!found) continue;
            if (!found->recombined) {
                if (found->note.find("does not declare") != std::string::npos) tally.without.insert(expr.op.name);
                else tally.refused[expr.op.name] = QString::fromStdString(found->note);
                continue;
            }
            ++tally.elements;
            tally.explained.insert(expr.op.name);
            const double tolerance =
                test::recombinedTolerance(tensor.dtype()) * 10 * std::max(test::largestMagnitude(tensor), 0.1);
            if (!test::isNear(*found->recombined, tensor.toDouble(element), tolerance))
                problems << QString("%1 %2[%3]: %4 gives %5, but the case has %6")
                                .arg(QFileInfo(QFileInfo(file).path()).fileName(), QString::fromStdString(expr.op.name))
                                .arg(element)
                                .arg(QString::fromStdString(found->formula))
                                .arg(*found->recombined)
                                .arg(tensor.toDouble(element));
        }
    }
    return problems;
}

}  // namespace

class TestWhyRules : public QObject {
    Q_OBJECT

  private slots:
    /// A name that no operator has would never be asked for.
    void rulesAreOfKnownOperators() {
        const auto declared = ops::explainedOperators();
        QVERIFY(declared.size() > 200);
        std::set<std::string> known;
        for (const ops::OpDef* op : ops::Registry::all().rows()) {
            const std::string domain(op->domain), name(op->name);
            known.insert(domain + "::" + name);
            known.insert(domain + "::" + name.substr(0, name.find('.')));
        }
        QStringList unknown;
        for (const std::string& name : declared)
            if (!known.contains(name)) unknown << QString::fromStdString(name);
        QVERIFY2(unknown.isEmpty(), qPrintable(unknown.join(' ')));
    }

    void formulasGiveWhatPyTorchGave() {
        Tally tally;
        QStringList problems;
        for (const QByteArray& line : lines("aten/cases.jsonl").split('\n')) {
            auto call = line.isEmpty() ? std::nullopt : callIn(line);
            if (!call) continue;
            const std::string name(call->op->name);
            if (!ops::dependenceOf(*call->op)) {
                tally.without.insert(name);
                continue;
            }
            const QString problem = call->problem();
            if (!problem.isEmpty()) problems << QString::fromStdString(name) + " " + problem;
            tally.elements += call->checked;
            if (call->checked > 0) tally.explained.insert(name);
            if (call->refused > 0) tally.refused[name] = call->refusal;
        }
        tally.print("PyTorch");
        for (const QString& problem : problems) std::printf("%s\n", qPrintable(problem));
        QVERIFY2(problems.isEmpty(), qPrintable(problems.mid(0, 3).join('\n')));
        QVERIFY2(tally.explained.size() >= 250, qPrintable(QString::number(tally.explained.size())));
    }

    void formulasGiveWhatBackendCasesExpect() {
        const QString cases = test::referenceSets() + "/onnx-conformance";
        SONDE_NEEDS_SET("onnx-conformance", cases);
        Tally tally;
        QStringList problems;
        QDirIterator files(cases, {"model.onnx"}, QDir::Files, QDirIterator::Subdirectories);
        while (files.hasNext()) problems << problemsOfCase(files.next(), tally);
        tally.print("ONNX");
        for (const QString& problem : problems) std::printf("%s\n", qPrintable(problem));
        QVERIFY2(problems.isEmpty(), qPrintable(problems.mid(0, 3).join('\n')));
        QVERIFY2(tally.explained.size() >= 100, qPrintable(QString::number(tally.explained.size())));
    }
};

QTEST_APPLESS_MAIN(TestWhyRules)

}  // namespace tst_why_rules

#include "tst_why_rules.moc"
