// A debugged run as a window sees it, without a window: places, their values, commands that wait, what ends it.

#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

#include "core/document/document.h"
#include "ui/context/inspector_context.h"

namespace tst_debugged_run {

using namespace sonde;
using namespace sonde::context;

class TestDebuggedRun : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup() { m_context.reset(); }
    void aStepBeginsARun();
    void valuesAreThoseOfThePlace();
    void stepsThatWaitAreDone();
    void whatEndsARunEndsItsValues();
    void aModuleAloneIsTheSame();

  private:
    Debugger& debugger() { return m_context->debugger(); }
    void settle() { QTRY_VERIFY_WITH_TIMEOUT(!m_context->isBusy(), 30000); }
    NodeId node(const char* name) { return *m_document->findNode(name); }

    std::shared_ptr<const document::Document> m_document;
    std::unique_ptr<InspectorContext> m_context;
    QTemporaryDir m_settings;
};

void TestDebuggedRun::initTestCase() {
    QCoreApplication::setOrganizationName(QStringLiteral("SondeTest"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, m_settings.path());
    const auto opened = document::open(SONDE_TEST_DATA "/models/resnet18_slim.onnx");
    QVERIFY(opened);
    m_document = *opened;
}

void TestDebuggedRun::init() {
    QSettings().clear();
    m_context = std::make_unique<InspectorContext>();
    m_context->loader().show(m_document);
    settle();
}

void TestDebuggedRun::aStepBeginsARun() {
    QSignalSpy changed(&debugger(), &Debugger::changed);
    QVERIFY(!debugger().isShown());
    QVERIFY(debugger().placeText().isEmpty());
    debugger().step(StepKind::Into);
    QVERIFY(debugger().isShown());
    settle();
    QVERIFY(debugger().isStopped());
    QVERIFY(!changed.isEmpty());
    QVERIFY(debugger().current().valid());
    QVERIFY2(debugger().placeText().startsWith(QStringLiteral("stopped before ")), qPrintable(debugger().placeText()));
    QCOMPARE(debugger().position(), std::size_t{1});
    QVERIFY2(debugger().placeText().contains(QStringLiteral(" · 1 of ")), qPrintable(debugger().placeText()));
}

void TestDebuggedRun::valuesAreThoseOfThePlace() {
    const graph::InternalGraph& graph = *m_document->graph;
    NodeId last;
    for (const NodeId output : graph.outputs()) last = output;
    debugger().step(StepKind::Into);
    debugger().request(last);
    settle();
    const NodeId first = debugger().current();
    QVERIFY(debugger().value(first));  // its own, which is done to be seen
    QVERIFY(!debugger().value(last));
    QVERIFY(debugger().recording()->computed(first));
    QVERIFY(!debugger().recording()->computed(last));
    const std::size_t total = debugger().total();  // known before it is done
    debugger().resume();
    settle();
    QCOMPARE(debugger().state(), DebugState::Finished);
    QCOMPARE(debugger().total(), total);
    QVERIFY(debugger().value(last));
    QVERIFY(debugger().recording()->computed(last));
    QCOMPARE(debugger().position(), debugger().total());
    m_context->runs().run();
    settle();
    QVERIFY(!debugger().isShown());
    const tensor::Value* plain = m_context->runs().value(last);
    QVERIFY(plain);
    const tensor::Value kept = *plain;
    debugger().resume();
    debugger().request(last);
    settle();
    QVERIFY(debugger().value(last));
    QVERIFY(tensor::identical(*debugger().value(last), kept));
    debugger().step(StepKind::Into, Direction::Back);
    debugger().step(StepKind::Into, Direction::Back);
    settle();
    QVERIFY(!debugger().value(last));
}

void TestDebuggedRun::stepsThatWaitAreDone() {
    for (int i = 0; i < 5; ++i) debugger().step(StepKind::Into);
    settle();
    const std::size_t position = debugger().position();
    const session::debug::ItemId item = debugger().place().item;
    QCOMPARE(item, session::debug::ItemId{4});
    debugger().step(StepKind::Into, Direction::Back);
    settle();
    QCOMPARE(debugger().place().item, session::debug::ItemId{3});
    QVERIFY(debugger().position() <= position);
}

void TestDebuggedRun::whatEndsARunEndsItsValues() {
    debugger().step(StepKind::Into);
    settle();
    const NodeId first = debugger().current();
    QVERIFY(debugger().value(first));
    QSignalSpy changed(&debugger(), &Debugger::changed);
    debugger().cancel();
    QCOMPARE(changed.size(), 1);
    QVERIFY(!debugger().isShown());
    QVERIFY(!debugger().value(first));
    debugger().step(StepKind::Into);
    settle();
    m_context->loader().show(m_document);
    settle();
    QVERIFY(!debugger().isShown());
    QVERIFY(!debugger().current().valid());
}

void TestDebuggedRun::aModuleAloneIsTheSame() {
    QSignalSpy told(&debugger(), &Debugger::moduleRun), refused(&debugger(), &Debugger::refused);
    debugger().runModule(QStringLiteral("layer1"));
    settle();
    QTRY_COMPARE(told.size() + refused.size(), 1);
    QVERIFY2(refused.isEmpty(), qPrintable(refused.isEmpty() ? QString() : refused[0][0].toString()));
    QVERIFY2(told[0][0].toString().contains(QStringLiteral("bit-identical")), qPrintable(told[0][0].toString()));
    debugger().runModule(QStringLiteral("no such module"));
    settle();
    QTRY_COMPARE(refused.size(), 1);
    QVERIFY(refused[0][0].toString().contains(QStringLiteral("no such module")));
}

QTEST_MAIN(TestDebuggedRun)

}  // namespace tst_debugged_run

#include "tst_debugged_run.moc"
