#include "ui/context/weights.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "ui/context/weight_measures.h"

namespace sonde::context {

/// Between the worker and the UI thread.
struct Weights::Shelf {
    std::mutex mutex;
    std::shared_ptr<session::WeightReport> listed;  ///< taken by the UI thread, which then owns it
    std::vector<analysis::WeightFigures> figures;   ///< in the order of the rows, since they were taken last
};

Weights::Weights(OpenModel& opened, Messages& messages, QObject* parent)
    : QObject(parent), m_opened(opened), m_messages(messages) {
    connect(&opened, &OpenModel::documentLeft, this, &Weights::reset);
    connect(&opened, &OpenModel::fileChanged, this, &Weights::reset);
    for (Job* job : {&m_reading, &m_layering, &m_decomposing}) {
        connect(job, &Job::started, this, &Weights::activityChanged);
        connect(job, &Job::finished, this, &Weights::activityChanged);
        connect(job, &Job::progressed, this, &Weights::progressed);
    }
    connect(&m_reading, &Job::progressed, this, &Weights::take);
}

Weights::~Weights() = default;

const analysis::WeightFigures* Weights::figures(std::size_t row) const {
    return m_report && row < m_report->figures.size() ? &m_report->figures[row] : nullptr;
}

const session::LayerHistograms* Weights::layers() const {
    return m_report && m_report->layers ? &*m_report->layers : nullptr;
}

const analysis::Spectrum* Weights::spectrum(std::size_t row) const {
    if (!m_report) return nullptr;
    const auto found = std::ranges::find(m_report->spectra, row, &std::pair<std::size_t, analysis::Spectrum>::first);
    return found == m_report->spectra.end() ? nullptr : &found->second;
}

void Weights::reset() {
    for (Job* job : {&m_reading, &m_layering, &m_decomposing}) job->abandon();
    m_decomposed.reset();
    m_shelf.reset();
    if (std::exchange(m_report, {})) Q_EMIT listed();
}

void Weights::compute() {
    if (!m_opened.isOpen() || m_opened.fileHasChanged() || m_reading.isActive() || isKnown()) return;
    m_shelf = std::make_shared<Shelf>();
    // A list of its own for the worker, which reads on while the window's one grows.
    std::shared_ptr<session::WeightReport> known;
    if (m_report) {
        known = std::make_shared<session::WeightReport>();
        known->document = m_report->document;
        known->rows = m_report->rows;
    }
    const std::size_t done = m_report ? m_report->figures.size() : 0;
    m_reading.start(
        [shelf = m_shelf, document = m_opened.document(), known,
         done](const base::WorkContext& work) -> base::Result<void> {
            std::shared_ptr<const session::WeightReport> list = known;
            if (!list) {
                auto listed = std::make_shared<session::WeightReport>(session::listWeights(document));
                list = std::make_shared<const session::WeightReport>(*listed);
                const std::scoped_lock lock(shelf->mutex);
                shelf->listed = std::move(listed);
            }
            return session::measureWeights(
                *list,
                [&shelf](std::size_t, analysis::WeightFigures figures) {
                    const std::scoped_lock lock(shelf->mutex);
                    shelf->figures.push_back(std::move(figures));
                },
                work, done);
        },
        [this](const base::Result<void>& result) {
            take();
            ended(result);
            if (isKnown()) setWeightMeasures(*m_report);
            Q_EMIT layersChanged();
        });
}

/// What the worker has put down since it was looked at last.
void Weights::take() {
    if (!m_shelf) return;
    std::shared_ptr<session::WeightReport> listedNow;
    std::vector<analysis::WeightFigures> figures;
    {
        const std::scoped_lock lock(m_shelf->mutex);
        listedNow = std::exchange(m_shelf->listed, {});
        figures = std::exchange(m_shelf->figures, {});
    }
    if (listedNow) {
        m_report = std::move(listedNow);
        Q_EMIT listed();
    }
    if (!m_report || figures.empty()) return;
    const auto first = static_cast<int>(m_report->figures.size());
    std::ranges::move(figures, std::back_inserter(m_report->figures));
    Q_EMIT measured(first, static_cast<int>(m_report->figures.size()) - 1);
}

void Weights::ended(const base::Result<void>& result) {
    if (!result && result.error().kind != base::ErrorKind::Cancelled) m_messages.report(result.error());
}

void Weights::computeLayers() {
    if (!isKnown() || m_report->layers || m_layering.isActive()) return;
    m_layering.start([report = std::make_shared<const session::WeightReport>(*m_report)](
                         const base::WorkContext& work) { return session::layerHistograms(*report, work); },
                     [this](base::Result<session::LayerHistograms> layers) {
                         if (layers && m_report) m_report->layers = std::move(*layers);
                         else if (!layers) ended(layers.error());
                         Q_EMIT layersChanged();
                     });
}

void Weights::computeSpectrum(std::size_t row) {
    if (!m_report || row >= m_report->rows.size() || spectrum(row) || m_decomposed == row) return;
    m_decomposed = row;
    auto one = std::make_shared<session::WeightReport>();
    one->document = m_report->document;
    one->rows = {m_report->rows[row]};
    m_decomposing.start([one](const base::WorkContext& work) { return session::weightSpectrum(*one, 0, work); },
                        [this, row](base::Result<analysis::Spectrum> spectrum) {
                            m_decomposed.reset();
                            if (spectrum && m_report) m_report->spectra.emplace_back(row, std::move(*spectrum));
                            else if (!spectrum) ended(spectrum.error());
                            Q_EMIT spectrumChanged();
                        });
    Q_EMIT spectrumChanged();
}

void Weights::cancel() {
    for (Job* job : {&m_reading, &m_layering, &m_decomposing}) job->cancel();
}

Weights& weightsOf(const QObject& context) {
    auto* weights = context.findChild<Weights*>({}, Qt::FindDirectChildrenOnly);
    Q_ASSERT(weights);
    return *weights;
}

}  // namespace sonde::context
