// What a selection is about: of a module's call what it returns, found among what is inside of it only.

#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

#include <set>

#include "ui/context/inspector_context.h"
#include "ui/models/module_result.h"

namespace tst_module_result {

using namespace sonde;
using context::InspectorContext;

class TestModuleResult : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase();
    void aModuleIsItsOutput_data();
    void aModuleIsItsOutput();
    void eachCallHasItsOwn();
    void theRootIsTheFirstOutput();

  private:
    static bool load(InspectorContext& context, const QString& model) {
        QSignalSpy opened(&context.model(), &context::OpenModel::documentOpened);
        context.loader().open(
            model.startsWith(QLatin1String("zoo:")) ? model : QStringLiteral(SONDE_TEST_DATA "/models/") + model);
        return opened.wait(20000);
    }
    QTemporaryDir m_settings;
};

void TestModuleResult::initTestCase() {
    QCoreApplication::setOrganizationName(QStringLiteral("SondeTest"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, m_settings.path());
}

void TestModuleResult::aModuleIsItsOutput_data() {
    QTest::addColumn<QString>("model");
    for (const char* model : {"zoo:densenet121", "zoo:unet", "resnet18_slim.onnx", "gpt_mini.trace.pt",
                              "gpt_mini.script.pt", "nested_containers.trace.pt", "robust_nested.script.pt"})
        QTest::addRow("%s", model) << QString::fromLatin1(model);
}

void TestModuleResult::aModuleIsItsOutput() {
    QFETCH(QString, model);
    InspectorContext context;
    QVERIFY(load(context, model));
    std::set<std::string> seen;
    for (const graph::Scope& scope : context.model().graph().scopes()) {
        if (scope.qualname.empty() || !seen.insert(scope.qualname).second) continue;
        const auto named = context.model().document()->findNode(scope.qualname + ":");  // over the whole graph, by name
        const graph::NodeId found = models::resultOf(context.model(), context.navigation().selectionOf(scope.id));
        QVERIFY2(found.valid() == named.has_value(), scope.qualname.c_str());
        if (found.valid())
            QVERIFY2(found == *named, (scope.qualname + ": " + context.model().graph().node(found).name + " for " +
                                       context.model().graph().node(*named).name)
                                          .c_str());
    }
    QVERIFY(!seen.empty());
}

void TestModuleResult::eachCallHasItsOwn() {
    InspectorContext context;
    QVERIFY(load(context, QStringLiteral("shared_twice.trace.pt")));
    const graph::InternalGraph& graph = context.model().graph();
    std::map<std::string, std::set<graph::NodeId>> results;
    std::map<std::string, std::size_t> calls;
    for (const graph::Scope& scope : graph.scopes()) {
        if (scope.qualname.empty()) continue;
        const graph::NodeId node = models::resultOf(context.model(), context.navigation().selectionOf(scope.id));
        QVERIFY2(node.valid(), scope.qualname.c_str());
        QVERIFY(graph.encloses(scope.id, graph.expr(graph.node(node).producer).scope));
        results[scope.qualname].insert(node);
        ++calls[scope.qualname];
    }
    QVERIFY(std::any_of(calls.begin(), calls.end(), [](const auto& entry) { return entry.second > 1; }));
    for (const auto& [name, count] : calls) QVERIFY2(results[name].size() == count, name.c_str());
}

void TestModuleResult::theRootIsTheFirstOutput() {
    InspectorContext context;
    QVERIFY(load(context, QStringLiteral("resnet18_slim.onnx")));
    QCOMPARE(models::resultOf(context.model(), context.navigation().selectionOf(QStringLiteral(""))),
             context.model().graph().outputs().front());
    QVERIFY(!models::resultOf(context.model(), context::Selection()).valid());
}

QTEST_MAIN(TestModuleResult)

}  // namespace tst_module_result

#include "tst_module_result.moc"
