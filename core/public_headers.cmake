# The headers that are installed, for models of one's own and for programs that embed the library: one umbrella for each
# folder of core (core/exec.h), what it includes, and what that includes. All else is the library's own.
# tests/tst_public_headers.cpp holds that the list is closed and has nothing that no umbrella leads to.
set(SONDE_PUBLIC_HEADERS
  analysis.h base.h document.h exec.h export.h expression.h graph.h io.h layout.h lessons.h nn.h operators.h ops.h ort.h passes.h session.h
  tensor.h trace.h zoo.h
  analysis/bad_values.h analysis/bisect.h analysis/compare.h analysis/compared_values.h analysis/conformance.h analysis/difference.h
  analysis/infer.h analysis/mask_values.h analysis/match.h analysis/measured_runs.h analysis/model_target.h analysis/node_measures.h analysis/operator_cost.h
  analysis/parameters.h
  analysis/problem.h analysis/problems.h analysis/problems/contradictions.h analysis/profile.h
  analysis/query/query.h
  analysis/reach.h analysis/run_edits.h analysis/seen_types.h analysis/tensor_stats.h
  base/diagnostics.h base/error.h base/id.h base/mapped_file.h base/mapping_guard.h base/progress.h base/result.h
  base/thread_pool.h base/version.h
  document/document.h document/document_json.h document/document_types.h document/evaluator.h document/export_form.h
  document/format.h
  document/formats.h document/input_infos.h document/native_library.h document/optimize.h document/own_code.h
  document/part.h document/reference.h
  document/repeated_trace.h document/test_cases.h document/trace_options.h document/trace_request.h document/tracers.h document/weights.h
  exec/dependants.h exec/edits.h
  exec/measurement.h exec/plan.h exec/plan_options.h exec/recompute.h exec/recompute_options.h exec/recording.h exec/replay.h exec/rerun.h
  exec/row_memory.h exec/run.h exec/run_options.h exec/runner.h
  export/dump.h export/export_choice.h export/export_options.h export/write_export.h
  export/optimised_cases.h export/plain_form.h
  export/lowering/onnx_graph.h
  expression/expression.h
  graph/argument.h graph/guard.h graph/ids.h graph/internal_graph.h graph/module_tree.h graph/scope_output.h
  graph/missing_data.h graph/source.h graph/source_files.h graph/traits.h
  io/dump/dump_file.h io/dump/export_options.h io/dump/name_options.h
  io/image/image.h
  io/inputs/agreement.h io/inputs/input_info.h io/inputs/inputs.h io/inputs/npz_inputs.h
  io/npz/npy.h io/npz/npz.h
  io/onnx/onnx_reader.h io/onnx/onnx_writer.h io/onnx/value_file.h
  io/session_file/session_file.h
  io/traced_module/traced_module_file.h
  io/zip/zip_archive.h io/zip/zip_directory.h
  layout/cache.h layout/dot_export.h
  layout/engine/box_graph.h layout/engine/geometry.h
  layout/outline.h layout/scene.h layout/view_state.h layout/workers.h
  lessons/binding.h lessons/lesson.h lessons/shipped.h
  nn/activation.h nn/adaptive_softmax.h nn/attention.h nn/containers.h nn/conv.h nn/distance.h nn/dropout.h
  nn/embedding.h nn/fold.h nn/fractional_pooling.h nn/functional.h nn/initialize.h nn/linear.h nn/loss.h nn/module.h
  nn/normalization.h nn/padding.h nn/plugin.h nn/pooling.h nn/recurrent.h nn/transformer.h nn/upsample.h
  operators/call.h operators/cost.h operators/traits.h
  ops/registry/registry.h
  ort/helper.h ort/reference.h ort/target.h
  passes/gradient.h passes/pass.h passes/report.h passes/rewrite.h
  session/comparison.h
  session/debug/accesses.h session/debug/breakpoints.h session/debug/kept_values.h
  session/debug/place.h session/debug/recorded_run.h session/debug/spill_file.h session/debug/timeline.h
  session/debug/trace.h session/debug/view.h
  session/edits/edit.h session/edits/edit_line.h session/edits/edited_model.h session/edits/edits.h
  session/edits/ready_edit.h
  session/debug_commands.h session/debugger.h session/executor.h session/export_preview.h
  session/expression_watches.h session/expressions.h
  session/input_spec.h session/inputs.h
  session/load_and_run/load_and_run.h session/load_and_run/options.h session/load_and_run/task.h
  session/load_and_run/unoptimised.h session/node_names.h session/node_statistics.h
  session/notes.h
  session/observer.h session/points.h session/problems.h session/read_inputs.h session/run.h session/runs.h
  session/session.h session/test_cases.h session/values.h
  session/watch/history.h session/watch/node_identity.h session/watch/watch_groups.h session/watch/watch_policy.h
  tensor/attribute.h tensor/dtype.h tensor/ellipsis_value.h tensor/dim_size_hint.h tensor/float_types.h
  tensor/picture/picture.h
  tensor/shape.h tensor/slice_value.h tensor/storage.h tensor/symbolic.h tensor/tensor.h tensor/type_info.h
  tensor/value.h
  trace/attempt.h trace/body_stack.h trace/concrete_run.h trace/control_recorder.h trace/custom_cond.h
  trace/custom_proxy.h trace/custom_tracer.h trace/error.h
  trace/listing.h trace/module.h trace/module_path_tracer.h trace/naming.h trace/paused_tracing.h trace/record.h
  trace/recorder.h trace/recording.h trace/robust_tracer.h trace/trace_policy.h
  trace/traced_module.h
  trace/traced_module/graph_editor.h trace/traced_module/module_graph.h trace/traced_module/node.h
  trace/traced_module/query.h trace/traced_module/structure.h
  trace/tracer.h trace/value_oracle.h trace/var.h
  zoo/settings.h zoo/zoo.h)
