#pragma once

#include <QObject>

#include <memory>
#include <optional>
#include <vector>

#include "core/session/weights/weights.h"
#include "ui/context/job.h"
#include "ui/context/messages.h"
#include "ui/context/open_model.h"

namespace sonde::context {

/// The parameters and buffers of the open model with their statistics, for views: read in the background when somebody
/// asks. Belongs to the UI thread; no verb blocks.
class Weights : public QObject {
    Q_OBJECT
  public:
    Weights(OpenModel& opened, Messages& messages, QObject* parent);
    ~Weights() override;

    /// Null until they are listed. Its figures grow while they are read.
    const session::WeightReport* report() const { return m_report.get(); }
    /// Null of a weight that was not read yet.
    const analysis::WeightFigures* figures(std::size_t row) const;
    /// Whether all of them were read.
    bool isKnown() const { return m_report && m_report->figures.size() == m_report->rows.size(); }
    bool isActive() const { return m_reading.isActive() || m_layering.isActive() || m_decomposing.isActive(); }

    /// Null until they were asked for and are there.
    const session::LayerHistograms* layers() const;
    bool areLayersActive() const { return m_layering.isActive(); }
    /// Null until it was asked for and is there.
    const analysis::Spectrum* spectrum(std::size_t row) const;
    /// Whose spectrum is being computed.
    std::optional<std::size_t> decomposed() const { return m_decomposed; }

  public Q_SLOTS:
    /// Lists and reads them, unless that was done or goes on.
    void compute();
    /// Histograms of the layers over one range; needs the statistics.
    void computeLayers();
    void computeSpectrum(std::size_t row);
    /// Whatever goes on; what was read stays, and compute() goes on from there.
    void cancel();

  Q_SIGNALS:
    /// Another list, or none.
    void listed();
    /// Rows first … last have figures now.
    void measured(int first, int last);
    /// Work begins or ends.
    void activityChanged();
    void layersChanged();
    /// There is one, or computing it ended without.
    void spectrumChanged();
    void progressed(const sonde::base::Progress& progress);

  private:
    struct Shelf;

    void reset();
    void read();
    void take();
    void ended(const base::Result<void>& result);

    OpenModel& m_opened;
    Messages& m_messages;
    std::shared_ptr<session::WeightReport> m_report;  ///< rows are not changed once they are listed
    std::shared_ptr<Shelf> m_shelf;                   ///< where the worker puts what it has read
    std::optional<std::size_t> m_decomposed;
    Job m_reading, m_layering, m_decomposing;
};

/// Those of a window; `context` is its InspectorContext, which is their parent.
Weights& weightsOf(const QObject& context);

}  // namespace sonde::context
