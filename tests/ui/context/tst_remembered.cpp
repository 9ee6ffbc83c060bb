// What is remembered of a model: read back while it is being written, from the file afterwards.

#include <QSemaphore>
#include <QSettings>
#include <QTemporaryDir>
#include <QtTest>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/document/document.h"
#include "ui/context/remembered.h"
#include "ui/context/stored.h"

namespace tst_remembered {

using namespace sonde;
using namespace sonde::context;

namespace {

/// Holds the writer of the settings, until let go of. Should somebody wait for the writer meanwhile, which would never
/// end, it lets go after a while and says so.
class HeldWriter {
  public:
    HeldWriter() {
        storeLater([this](QSettings&) {
            m_reached.release();
            m_go.acquire();
        });
        m_reached.acquire();
        m_guard = std::jthread([this](const std::stop_token& stop) {
            std::unique_lock lock(m_mutex);
            if (m_over.wait_for(lock, stop, std::chrono::seconds(20), [&] { return stop.stop_requested(); })) return;
            m_wasWaitedFor = true;
            m_go.release();
        });
    }
    ~HeldWriter() {
        m_guard = {};
        m_go.release();
        waitUntilStored();
    }
    bool wasWaitedFor() const { return m_wasWaitedFor; }

  private:
    QSemaphore m_reached, m_go;
    std::mutex m_mutex;
    std::condition_variable_any m_over;
    std::atomic<bool> m_wasWaitedFor = false;
    std::jthread m_guard;
};

}  // namespace

class TestRemembered : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase();
    void cleanup() { waitUntilStored(), QSettings().clear(); }
    void recallsWhatIsStillBeingWritten();
    void recallsWhatWasFetched();
    void recallsFromTheFile();
    void readsWhatEarlierVersionsWrote();
    void forgetsWhatIsTakenAway();
    void anotherContentAtTheSameLocation();

  private:
    static Remembered sample(const document::Document& document);

    QTemporaryDir m_folder;
    std::shared_ptr<const document::Document> m_document;
};

void TestRemembered::initTestCase() {
    QCoreApplication::setOrganizationName(QStringLiteral("SondeTest"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, m_folder.path());
    const auto opened = document::open(SONDE_TEST_DATA "/models/resnet18_slim.onnx");
    QVERIFY(opened);
    m_document = *opened;
}

Remembered TestRemembered::sample(const document::Document& document) {
    Remembered state;
    state.watched.assign(*document.graph, std::vector<graph::NodeId>{document.outputs.front().node});
    state.tolerance = 0.25;
    InputSpec spec;
    spec.source = QStringLiteral("photo.png");
    spec.image.resize = false;
    state.inputs = {{QString::fromStdString(document.inputs.front().name), spec}};
    state.view = layout::ViewState();
    state.view->direction = layout::Direction::LeftRight;
    state.secondView = layout::ViewState();
    state.secondView->hideConstants = false;
    return state;
}

void TestRemembered::recallsWhatIsStillBeingWritten() {
    const Remembered state = sample(*m_document);
    const HeldWriter writer;
    remember(m_document, state);
    Place place;
    place.kind = Place::Kind::Fitted;
    rememberPlace(m_document, 1, place);
    const Remembered known = recall(*m_document);
    QVERIFY(!writer.wasWaitedFor());
    QCOMPARE(known.watched.nodes(), state.watched.nodes());
    QCOMPARE(known.tolerance, state.tolerance);
    QCOMPARE(known.inputs, state.inputs);
    QCOMPARE(known.view->direction, layout::Direction::LeftRight);
    QCOMPARE(known.secondView->hideConstants, false);
    QCOMPARE(known.place.kind, Place::Kind::First);
    QCOMPARE(known.secondPlace.kind, Place::Kind::Fitted);
}

void TestRemembered::recallsWhatWasFetched() {
    remember(m_document, sample(*m_document));
    waitUntilStored();
    fetchRemembered(*m_document);
    const HeldWriter writer;
    QCOMPARE(recall(*m_document).watched.nodes(), sample(*m_document).watched.nodes());
    QVERIFY(!writer.wasWaitedFor());
}

void TestRemembered::recallsFromTheFile() {
    QVERIFY(!recall(*m_document).view);
    remember(m_document, sample(*m_document));
    waitUntilStored();
    QCOMPARE(recall(*m_document).inputs, sample(*m_document).inputs);
    // As earlier versions wrote it.
    QSettings settings;
    settings.beginGroup(QStringLiteral("models/%1").arg(m_document->fingerprint, 16, 16, QLatin1Char('0')));
    QCOMPARE(settings.beginReadArray(QStringLiteral("inputs")), 1);
    settings.setArrayIndex(0);
    QCOMPARE(settings.value(QStringLiteral("source")).toString(), QStringLiteral("photo.png"));
    settings.endArray();
    settings.endGroup();
    settings.clear();
    settings.sync();
    QVERIFY(!recall(*m_document).view);
}

/// Nodes were names, then names with modules, before more of their structure was kept; modules were always text.
void TestRemembered::readsWhatEarlierVersionsWrote() {
    const graph::InternalGraph& graph = *m_document->graph;
    const graph::NodeId fc = m_document->outputs.front().node, first = *m_document->findNode("conv1:");
    const std::string module = graph.expr(graph.node(first).producer).qualname.value_or("");
    QVERIFY(!module.empty());
    {
        QSettings settings;
        settings.beginGroup(QStringLiteral("models/%1").arg(m_document->fingerprint, 16, 16, QLatin1Char('0')));
        settings.setValue(QStringLiteral("watched"), QStringList());
        settings.setValue(QStringLiteral("bookmarks"),
                          QStringList{QString::fromStdString(graph.node(fc).name), QStringLiteral("nobody"),
                                      QStringLiteral("another name\t") + QString::fromStdString(module)});
        settings.setValue(QStringLiteral("bookmarkedModules"), QStringList{"layer1\t0", "layer9\t0"});
    }
    const Remembered known = recall(*m_document);
    QStringList names;
    for (const graph::NodeId node : known.bookmarkedNodes) names << QString::fromStdString(graph.node(node).name);
    QCOMPARE(names, (QStringList{QString::fromStdString(graph.node(fc).name),
                                 QString::fromStdString(graph.node(first).name)}));
    QCOMPARE(known.bookmarkedScopes.size(), std::size_t{1});
    QCOMPARE(graph.scope(known.bookmarkedScopes.front()).qualname, std::string("layer1"));
}

void TestRemembered::forgetsWhatIsTakenAway() {
    Remembered state = sample(*m_document);
    remember(m_document, state);
    waitUntilStored();
    state.tolerance.reset();
    state.secondView = state.view;
    {
        const HeldWriter writer;
        remember(m_document, state);
        QVERIFY(!recall(*m_document).tolerance);
        QVERIFY(!recall(*m_document).secondView);
    }
    QVERIFY(!recall(*m_document).tolerance);
    QVERIFY(!recall(*m_document).secondView);
}

void TestRemembered::anotherContentAtTheSameLocation() {
    document::Document exportedAgain = *m_document;
    exportedAgain.fingerprint += 1;
    {
        const HeldWriter writer;
        remember(m_document, sample(*m_document));
        QCOMPARE(recall(exportedAgain).watched.nodes(), sample(*m_document).watched.nodes());
        QVERIFY(!writer.wasWaitedFor());
    }
    QCOMPARE(recall(exportedAgain).watched.nodes(), sample(*m_document).watched.nodes());
    exportedAgain.location += ".other";
    QVERIFY(recall(exportedAgain).watched.nodes().empty());
}

QTEST_MAIN(TestRemembered)

}  // namespace tst_remembered

#include "tst_remembered.moc"
