// Documents made by the robust tracer: the listings of the reference files, parts, marks in the module tree, JSON.

#include <QtTest>

#include "core/document/attempts.h"
#include "core/document/document.h"
#include "core/document/document_json.h"
#include "core/document/tracer_robust.h"

namespace tst_robust_document {

using namespace sonde;

namespace {

std::shared_ptr<const document::Document> opened(const std::string& name, const std::string& tracer,
                                                 std::vector<std::string> leaves = {}) {
    document::OpenOptions options;
    options.tracer = tracer;
    options.leaves = std::move(leaves);
    const auto result = document::open(SONDE_TEST_DATA "/models/" + name, options);
    if (!result) qFatal("%s", result.error().commandLineText().c_str());
    return *result;
}

QString reference(const QString& name) {
    QFile file(SONDE_TEST_DATA "/models/" + name);
    if (!file.open(QIODevice::ReadOnly)) qFatal("no %s", qPrintable(name));
    return QString::fromUtf8(file.readAll());
}

/// Without the text behind "fails:", which is an example: where an archive's code fails first is not where Python does.
QString withoutMessages(QString text) { return text.replace(QRegularExpression("(\n  fails:)[^\n]*"), "\\1"); }

const document::Part* part(const document::Document& document, std::string_view qualname) {
    const auto found = std::ranges::find(document.parts, qualname, &document::Part::qualname);
    return found == document.parts.end() ? nullptr : &*found;
}

}  // namespace

class TestRobustDocument : public QObject {
    Q_OBJECT

  private slots:
    void listingEqualsTheReference_data() {
        QTest::addColumn<bool>("messageToo");
        QTest::newRow("control_flow") << true;
        QTest::newRow("robust_nested") << true;
        QTest::newRow("script_features") << true;
    }
    void listingEqualsTheReference() {
        QFETCH(bool, messageToo);
        const QString name = QTest::currentDataTag();
        const QString listing =
            QString::fromStdString(document::collectionListing(*opened(name.toStdString() + ".script.pt", "robust")));
        if (messageToo) QCOMPARE(listing, reference(name + ".robust.txt"));
        QCOMPARE(withoutMessages(listing), withoutMessages(reference(name + ".robust.txt")));
    }

    void plainListingIfNothingFails_data() {
        QTest::addColumn<QString>("name");
        for (const char* name : {"shared_twice", "unet_small", "nested_containers"})
            QTest::newRow(name) << QString(name);
    }
    void plainListingIfNothingFails() {
        QFETCH(QString, name);
        const auto document = opened(name.toStdString() + ".trace.pt", "robust");
        QVERIFY(document->parts.empty());
        QCOMPARE(QString::fromStdString(document::collectionListing(*document)), reference(name + ".fx.txt"));
    }

    void partsAndMarks() {
        const auto document = opened("robust_nested.script.pt", "robust");
        QCOMPARE(document->parts.size(), 8U);
        const document::Part* act = part(*document, "body.1.gate.act");
        QVERIFY(act && act->graph && act->failure.empty() && act->note.empty());
        QCOMPARE(act->graph->scope(act->graph->rootScope()).qualname, std::string("body.1.gate.act"));
        QVERIFY(act->graph->validate().has_value());
        const document::Part* conv = part(*document, "body.0.gate.conv");
        QVERIFY(conv && conv->graph);
        QCOMPARE(conv->note, std::string("leaf module, not traced into"));
        const graph::Expr& call = conv->graph->expr(conv->graph->node(conv->graph->findNode("_unnamed")).producer);
        QCOMPARE(call.target, std::string("body.0.gate.conv"));
        const graph::ModuleTree& tree = *document->modules;
        for (const graph::ModuleInfo& module : tree.modules()) {
            QCOMPARE(!module.failure.empty(), module.qualname == "body.0.gate" || module.qualname == "body.1.gate");
            QVERIFY2(module.visited, module.qualname.c_str());
        }
    }

    void failingRootRunsAsOneCall() {
        const auto document = opened("control_flow.script.pt", "robust");
        QVERIFY(document->modules->module(0).failure.starts_with("TraceError"));
        QCOMPARE(document->parts.size(), 2U);
        QCOMPARE(document->parts[0].qualname, std::string("up"));
        QCOMPARE(document->parts[0].moduleClass, std::string("Linear"));
        QVERIFY(!document->graph->outputs().empty());
    }

    void unvisitedModulesHaveAReason() {
        const auto document = opened("robust_nested.script.pt", "robust", {"Sequential"});
        const graph::ModuleTree& tree = *document->modules;
        const auto stem = tree.find("stem.0");
        QVERIFY(stem);
        QVERIFY(!tree.module(*stem).visited);
        QCOMPARE(tree.module(*stem).note, std::string("inside the leaf 'stem', which is not traced into"));
    }

    /// In JSON, as text, and with the reason of each. `stem` is the first Sequential of the model.
    void whatWasLeftOutIsTold() {
        const auto document = opened("robust_nested.script.pt", "robust", {"Sequential"});
        const auto json = QJsonDocument::fromJson(QByteArray::fromStdString(document::documentJson(*document)));
        const QString reason = "inside the leaf 'stem', which is not traced into";
        QStringList unvisited;
        for (const QJsonValue& module : json["unvisited"].toArray()) {
            unvisited << module["qualname"].toString();
            QVERIFY(!module["reason"].toString().isEmpty());
            if (unvisited.back() != "stem.0") continue;
            QCOMPARE(module["module_class"].toString(), QString("Conv2d"));
            QCOMPARE(module["reason"].toString(), reason);
        }
        QVERIFY(unvisited.contains("stem.0"));
        for (const graph::ModuleInfo& module : document->modules->modules())
            QCOMPARE(unvisited.contains(QString::fromStdString(module.qualname)), !module.visited);
        const QString notes = QString::fromStdString(document::collectionNotes(*document));
        QVERIFY2(notes.contains("module stem.0 (Conv2d) was never called: " + reason + '\n'), qPrintable(notes));
    }

    /// A gate is followed as part of the model first; then its loop is recorded inside of one call.
    void failuresListWhatWasTried() {
        const auto document = opened("robust_nested.script.pt", "robust");
        const auto json = QJsonDocument::fromJson(QByteArray::fromStdString(document::documentJson(*document)));
        const QJsonObject failure = json["failures"][0].toObject();
        QCOMPARE(failure["qualname"].toString(), QString("body.0.gate"));
        const QJsonArray tried = failure["tried"].toArray();
        QVERIFY(tried.size() >= 2);
        QVERIFY2(tried[0].toString().startsWith("trace its forward as part of RobustNested: TypeError: "),
                 qPrintable(tried[0].toString()));
        QCOMPARE(tried.last().toString(), QString("record it as one call with its operations inside: succeeded"));
        const QString notes = QString::fromStdString(document::collectionNotes(*document));
        QVERIFY2(notes.contains("  tried to " + tried[0].toString() + '\n'), qPrintable(notes));
        QVERIFY2(notes.startsWith("module body.0.gate ("), qPrintable(notes));
        // A model that fails as a whole.
        const auto flow = opened("control_flow.script.pt", "robust");
        const auto root = document::triedWith(*flow, {});
        QVERIFY(root.size() >= 2);
        QVERIFY(root.front().starts_with("trace its forward as a root: TraceError: "));
        QVERIFY(root.back().ends_with(": succeeded"));
        QVERIFY(document::collectionNotes(*opened("unet_small.trace.pt", "robust")).empty());
    }

    void jsonHoldsPartsAndFailures() {
        const auto json = QJsonDocument::fromJson(
            QByteArray::fromStdString(document::documentJson(*opened("robust_nested.script.pt", "robust"))));
        QCOMPARE(json["format"].toString(), QString("sonde-graph"));
        QCOMPARE(json["parts"].toArray().size(), 8);
        QCOMPARE(json["parts"][3]["qualname"].toString(), QString("body.0.gate.act"));
        QCOMPARE(json["parts"][3]["graph"]["nodes"][0]["name"].toString(), QString("input_1"));
        QCOMPARE(json["failures"].toArray().size(), 2);
        QVERIFY(json["failures"][0]["message"].toString().startsWith("TypeError: "));
        const auto plain = QJsonDocument::fromJson(
            QByteArray::fromStdString(document::documentJson(*opened("shared_twice.trace.pt", "robust"))));
        for (const char* list : {"parts", "failures", "unvisited"}) QVERIFY2(plain[list].isArray(), list);
        QVERIFY(plain["parts"].toArray().isEmpty() && plain["failures"].toArray().isEmpty());
        // Of other tracers only what there is.
        const auto other = QJsonDocument::fromJson(
            QByteArray::fromStdString(document::documentJson(*opened("shared_twice.trace.pt", "module-path"))));
        QVERIFY(!other.object().contains("parts") && !other.object().contains("failures"));
    }
};

QTEST_GUILESS_MAIN(TestRobustDocument)

}  // namespace tst_robust_document

#include "tst_robust_document.moc"
